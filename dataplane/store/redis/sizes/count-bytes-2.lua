-- Purpose: adds the next objects to the sum of the collection's bytes, which every write updates
-- from then on.
-- KEYS: 1 index set, 2 ids; the objects' keys are derived: only the ids know them, and they share
-- its slot
-- ARGV: 1 prefix of the objects' keys, 2 maximum number of objects, 3 maximum number of bytes
-- Returns: {done}: all are counted | {more}
local code = { done = 0, more = 6 }
local index_set, ids = KEYS[1], KEYS[2]
local prefix, max_objects, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

-- include member-id

local counted_to = redis.call("HGET", index_set, "counted_to")
if counted_to == "*" then
  return { code.done }
end
-- After an id comes NUL in its member: the next text after all of those begins with the id and a 1.
local start = (counted_to or "") == "" and "-" or "(" .. counted_to .. "\1"
local members = redis.call("ZRANGE", ids, start, "+", "BYLEX", "LIMIT", 0, max_objects)
local bytes, done = 0, 0
while done < #members and bytes < budget do
  done = done + 1
  local object_key = prefix .. first_part(members[done])
  local text = redis.call("JSON.GET", object_key)
  if not text then
    -- Gone, or on another node while a Cluster moves the slot: then Redis ends the script here.
    redis.call("EXISTS", ids, object_key)
  end
  bytes = bytes + (text and #text or 0)
end
local is_last = done == #members and #members < max_objects
redis.call("HSET", index_set, "counted_to", is_last and "*" or first_part(members[done]))
redis.call("HINCRBY", index_set, "bytes", bytes)
return { is_last and code.done or code.more }
