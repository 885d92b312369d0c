-- Purpose: how many objects a collection has and how many bytes their texts, as far as they are
-- counted.
-- KEYS: 1 index set, 2 ids
-- ARGV: none
-- Returns: {done, objects, bytes, "1" when all are counted}
local code = { done = 0 }
local index_set, ids = KEYS[1], KEYS[2]

local state = redis.call("HMGET", index_set, "bytes", "counted_to")
return { code.done, redis.call("ZCARD", ids), tonumber(state[1] or 0), state[2] == "*" and "1" or "0" }
