-- Purpose: adds the owners' entries of objects that still are what the builder read, and stores how
-- far it came. It stops at a changed one, so that it is read again: a writer leaves out entries
-- whose value it did not change.
-- KEYS: 1 index set, 2 lock, then two per object: the object, its owner's ids, then the own index
-- of each index
-- ARGV: 1 builder's token, 2 version of the index set, 3 "1" when these are the last objects, 4
-- number of objects, then per object: its member of ids, SHA-1 of its text, id, owner, and one
-- encoded value per index
-- Returns: {done}: all have theirs | {more} | {stale_index_set} | {busy}: the lock was lost
local code = { done = 0, stale_index_set = 1, busy = 5, more = 6 }
local index_set, lock = KEYS[1], KEYS[2]
local token, version, is_last, objects = ARGV[1], ARGV[2], ARGV[3] == "1", tonumber(ARGV[4])
local first_object, first_index = 3, 3 + 2 * objects
local first_argument, arguments = 5, 4 + #KEYS - first_index + 1

-- include index-version
-- include build-step

local refusal = step_refusal(code, index_set, lock, token, version)
if refusal then
  return refusal
end
local reached
local is_same = true
for object = 0, objects - 1 do
  local at, key = first_argument + object * arguments, first_object + 2 * object
  local member, hash, id, owner = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local text = redis.call("JSON.GET", KEYS[key])
  is_same = not text or redis.sha1hex(text) == hash
  if not is_same then
    break
  end
  reached = member
  if text then
    redis.call("ZADD", KEYS[key + 1], 0, id)
    for index = first_index, #KEYS do
      local value = ARGV[at + 4 + index - first_index]
      redis.call("ZADD", KEYS[index], 0, owner .. "\0" .. value .. "\0" .. id)
    end
  end
end
if not (is_same and is_last) then
  if reached then
    redis.call("HSET", index_set, "owners_cursor", reached)
  end
  return { code.more }
end
redis.call("HDEL", index_set, "owners_cursor")
redis.call("DEL", lock)
return { code.done }
