-- Purpose: adds the index entries of objects that still are what the builder read, and stores how
-- far it came. A changed object has its entries already: its writer knew the building indexes, or
-- the version would differ.
-- KEYS: 1 index set, 2 lock, then the objects, then the sorted sets of the building indexes
-- ARGV: 1 builder's token, 2 version of the index set, 3 cursor, 4 fields once all are built ("" =
-- not yet), 5 number of objects, then per object: SHA-1 of its text, id, and what its member begins
-- with in each of the sets ("" = it has none)
-- Returns: {done}: all are built | {more}, also when owners' entries are next | {stale_index_set} |
-- {busy}: the lock was lost
local code = { done = 0, stale_index_set = 1, busy = 5, more = 6 }
local index_set, lock = KEYS[1], KEYS[2]
local token, version, cursor, built, objects = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local first_object, first_set = 3, 3 + objects
local at = 6

-- include index-version
-- include build-step

local refusal = step_refusal(code, index_set, lock, token, version)
if refusal then
  return refusal
end
for key = first_object, first_set - 1 do
  local hash, id = ARGV[at], ARGV[at + 1]
  at = at + 2
  local text = redis.call("JSON.GET", KEYS[key])
  local is_same = text and redis.sha1hex(text) == hash
  for set = first_set, #KEYS do
    if is_same and ARGV[at] ~= "" then
      redis.call("ZADD", KEYS[set], 0, ARGV[at] .. "\0" .. id)
    end
    at = at + 1
  end
end
if built == "" then
  redis.call("HSET", index_set, "cursor", cursor)
  return { code.more }
end
redis.call("HSET", index_set, "fields", built)
redis.call("HDEL", index_set, "cursor")
if redis.call("HEXISTS", index_set, "owners_cursor") == 1 then
  return { code.more }
end
redis.call("DEL", lock)
return { code.done }
