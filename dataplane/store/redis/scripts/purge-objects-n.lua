-- Purpose: removes objects of a collection whose indexes were dropped, and the index set with the last of them.
-- KEYS: 1 index set, 2 lock, 3 ids, then two per object: document, its owner's ids
-- ARGV: one per object: its member of ids
-- Returns: {done}: nothing is left | {more}
local code = { done = 0, more = 6 }
local index_set, lock, ids = KEYS[1], KEYS[2], KEYS[3]
local first_object = 4

-- include member-id

-- What goes unread can't be taken off the sum: it is counted anew if the collection comes back.
redis.call("HDEL", index_set, "bytes", "counted_to")
for at = 1, #ARGV do
  local key = first_object + 2 * (at - 1)
  redis.call("UNLINK", KEYS[key])
  redis.call("ZREM", KEYS[key + 1], first_part(ARGV[at]))
  redis.call("ZREM", ids, ARGV[at])
end
if redis.call("ZCARD", ids) > 0 then
  return { code.more }
end
redis.call("UNLINK", index_set, lock)
return { code.done }
