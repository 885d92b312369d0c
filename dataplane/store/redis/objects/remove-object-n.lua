-- Purpose: removes an object while its stored text is still the one that the writer read, and its
-- index entries. Its id always leaves the owner's ids, so that these never have one that is gone,
-- even while owners' entries are not kept.
-- KEYS: 1 index set, 2 ids, 3 the owner's ids, 4 object, 5 log, then per index: index, and own
-- index where owners' entries are kept
-- ARGV: 1 version of the index set, 2 SHA-1 of the text that was read, 3 id, 4 owner, 5 "1" when
-- owners' entries are kept, 6 declared log (includes/change-log.lua), then one per index: encoded
-- value
-- Returns: {done} | {stale_index_set} | {conflict} | {not_found}
local code = { done = 0, stale_index_set = 1, conflict = 3, not_found = 4 }
local index_set, ids, owned, object_key, log = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local version, previous, id, owner = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local keeps_owners, declared = ARGV[5] == "1", ARGV[6]
local width = keeps_owners and 2 or 1
local first_index, first_value = 6, 7

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
for at = first_value, #ARGV do
  local entry = ARGV[at] .. "\0" .. id
  local key = first_index + width * (at - first_value)
  redis.call("ZREM", KEYS[key], entry)
  if keeps_owners then
    redis.call("ZREM", KEYS[key + 1], owner .. "\0" .. entry)
  end
end
log_collection_changes(index_set, log, declared, { { "kind", "delete", "id", id, "owner", owner } })
return { code.done }
