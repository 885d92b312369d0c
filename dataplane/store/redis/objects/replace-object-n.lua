-- Purpose: replaces an object while its stored text is still the one that the writer read, and
-- moves its index entries.
-- KEYS: 1 index set, 2 object, 3 log, then the sorted sets of the indexes whose entry is written,
-- those of unique rules last
-- ARGV: 1 version of the index set, 2 SHA-1 of the text that was read, 3 id, 4 owner, 5 text, 6
-- number of those of unique rules, 7 declared log (includes/change-log.lua), then what the object's
-- member begins with in each of the sets before, then in each of them after ("" = it has none),
-- then, where objects expire, the time at which it does by what was read ("" = never)
-- Returns: {done} | {stale_index_set} | {conflict} | {not_found} | {not_unique, number of the rule
-- among those of KEYS}
local code = { done = 0, stale_index_set = 1, conflict = 3, not_found = 4, not_unique = 9 }
local index_set, object_key, log = KEYS[1], KEYS[2], KEYS[3]
local version, previous, id, owner, text = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local rules, declared = tonumber(ARGV[6]), ARGV[7]
local first_set, first_value = 4, 8
local sets = #KEYS - first_set + 1

-- include change-log
-- include collection-state
-- include taken-value
-- include store-time
-- include encoded-time

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
local expires = ARGV[first_value + 2 * sets] or ""
if expires ~= "" and expires <= encoded_time() then
  return { code.not_found }
end
for rule = 1, rules do
  local set = sets - rules + rule - 1
  local before, after = ARGV[first_value + set], ARGV[first_value + sets + set]
  if after ~= before and after ~= "" and is_taken(KEYS[first_set + set], after) then
    return { code.not_unique, rule }
  end
end
redis.call("JSON.SET", object_key, "$", text)
add_bytes(index_set, id, #text - #stored)
for set = 0, sets - 1 do
  local before, after = ARGV[first_value + set], ARGV[first_value + sets + set]
  if before ~= "" then
    redis.call("ZREM", KEYS[first_set + set], before .. "\0" .. id)
  end
  if after ~= "" then
    redis.call("ZADD", KEYS[first_set + set], 0, after .. "\0" .. id)
  end
end
log_collection_changes(index_set, log, declared, { { "kind", "put", "id", id, "owner", owner } })
return { code.done }
