-- Purpose: removes an object while its stored text is still the one that the writer read, and its
-- index entries. Its id always leaves the owner's ids, so that these never have one that is gone,
-- even while owners' entries are not kept.
-- KEYS: 1 index set, 2 ids, 3 the owner's ids, 4 object, 5 log, then the sorted sets of the indexes
-- ARGV: 1 version of the index set, 2 SHA-1 of the text that was read, 3 id, 4 owner, 5 declared
-- log (includes/change-log.lua), then what the object's member begins with in each of the sets (""
-- = it has none)
-- Returns: {done} | {stale_index_set} | {conflict} | {not_found}
local code = { done = 0, stale_index_set = 1, conflict = 3, not_found = 4 }
local index_set, ids, owned, object_key, log = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local version, previous, id, owner = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local declared = ARGV[5]
local first_set, first_value = 6, 6

-- include change-log
-- include collection-state

local stored = redis.call("JSON.GET", object_key)
if not stored then
  return { code.not_found }
end
if redis.sha1hex(stored) ~= previous then
  return { code.conflict }
end
if not is_current(index_set, version) then
  return { code.stale_index_set }
end
redis.call("DEL", object_key)
add_bytes(index_set, id, -#stored)
redis.call("ZREM", ids, id .. "\0" .. owner)
redis.call("ZREM", owned, id)
for at = first_set, #KEYS do
  local value = ARGV[first_value + at - first_set]
  if value ~= "" then
    redis.call("ZREM", KEYS[at], value .. "\0" .. id)
  end
end
log_collection_changes(index_set, log, declared, { { "kind", "delete", "id", id, "owner", owner } })
return { code.done }
