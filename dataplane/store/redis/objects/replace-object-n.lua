-- Purpose: replaces an object while its stored text is still the one that the writer read, and
-- moves its index entries.
-- KEYS: 1 index set, 2 object, 3 log, then per index whose entry is written: index, and own index
-- where owners' entries are kept
-- ARGV: 1 version of the index set, 2 SHA-1 of the text that was read, 3 id, 4 owner, 5 text, 6 "1"
-- when owners' entries are kept, 7 declared log (includes/change-log.lua), then two per index whose
-- entry is written: encoded value before, after
-- Returns: {done} | {stale_index_set} | {conflict} | {not_found}
local code = { done = 0, stale_index_set = 1, conflict = 3, not_found = 4 }
local index_set, object_key, log = KEYS[1], KEYS[2], KEYS[3]
local version, previous, id, owner, text = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local keeps_owners, declared = ARGV[6] == "1", ARGV[7]
local width = keeps_owners and 2 or 1
local first_index, first_value = 4, 8

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
redis.call("JSON.SET", object_key, "$", text)
add_bytes(index_set, id, #text - #stored)
local value = first_value
for at = first_index, #KEYS, width do
  local before, after = ARGV[value] .. "\0" .. id, ARGV[value + 1] .. "\0" .. id
  redis.call("ZREM", KEYS[at], before)
  redis.call("ZADD", KEYS[at], 0, after)
  if keeps_owners then
    redis.call("ZREM", KEYS[at + 1], owner .. "\0" .. before)
    redis.call("ZADD", KEYS[at + 1], 0, owner .. "\0" .. after)
  end
  value = value + 2
end
log_collection_changes(index_set, log, declared, { { "kind", "put", "id", id, "owner", owner } })
return { code.done }
