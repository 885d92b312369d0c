-- Purpose: removes objects of a collection that still has this name, and whose indexes were
-- dropped; with the last of them the index set.
-- KEYS: 1 index set, 2 lock, 3 ids, 4 log, then two per object: the object, its owner's ids
-- ARGV: 1 name that the collection was given, then one per object: its member of ids
-- Returns: {done}: nothing is left | {more} | {not_found}: it is gone; another one may exist
local code = { done = 0, not_found = 4, more = 6 }
local index_set, lock, ids, log = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local name = ARGV[1]
local first_object, first_member = 5, 2

-- include change-log
-- include member-id

if redis.call("HGET", index_set, "id") ~= name then
  return { code.not_found }
end
-- Unread bytes can't be subtracted: they are counted again if the collection comes back.
redis.call("HDEL", index_set, "bytes", "counted_to", "changes")
-- It would have a gap: these objects leave no entries.
delete_log(log)
for at = first_member, #ARGV do
  local key = first_object + 2 * (at - first_member)
  redis.call("UNLINK", KEYS[key])
  redis.call("ZREM", KEYS[key + 1], first_part(ARGV[at]))
  redis.call("ZREM", ids, ARGV[at])
end
if redis.call("ZCARD", ids) > 0 then
  return { code.more }
end
redis.call("UNLINK", index_set, lock)
return { code.done }
