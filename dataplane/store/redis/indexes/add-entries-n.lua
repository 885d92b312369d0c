-- Purpose: adds the index entries of objects that still are what the builder read, and stores how
-- far it came. A changed object has its entries already: its writer knew the building indexes, or
-- the version would differ.
-- KEYS: 1 index set, 2 lock, then the objects, then per building index: index, and own index where
-- owners' entries are kept
-- ARGV: 1 builder's token, 2 version of the index set, 3 cursor, 4 fields once all are built ("" =
-- not yet), 5 number of objects, 6 "1" when owners' entries are kept, then per object: SHA-1 of its
-- text, id, owner, and one encoded value per building index
-- Returns: {done}: all are built | {more}, also when owners' entries are next | {stale_index_set} |
-- {busy}: the lock was lost
local code = { done = 0, stale_index_set = 1, busy = 5, more = 6 }
local index_set, lock = KEYS[1], KEYS[2]
local token, version, cursor, built, objects = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local keeps_owners = ARGV[6] == "1"
local width = keeps_owners and 2 or 1
local first_object, first_index = 3, 3 + objects
local at = 7

-- include index-version
-- include build-step

local refusal = step_refusal(code, index_set, lock, token, version)
if refusal then
  return refusal
end
for key = first_object, first_index - 1 do
  local hash, id, owner = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  at = at + 3
  local text = redis.call("JSON.GET", KEYS[key])
  local is_same = text and redis.sha1hex(text) == hash
  for index = first_index, #KEYS, width do
    if is_same then
      local entry = ARGV[at] .. "\0" .. id
      redis.call("ZADD", KEYS[index], 0, entry)
      if keeps_owners then
        redis.call("ZADD", KEYS[index + 1], 0, owner .. "\0" .. entry)
      end
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
