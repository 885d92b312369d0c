-- Purpose: how many objects a collection has and how many bytes their texts, as far as they are
-- counted, and the log of its changes.
-- KEYS: 1 index set, 2 ids, 3 log
-- ARGV: 1 bytes of an entry of the log
-- Returns: {done, objects, bytes, "1" when all are counted}
local code = { done = 0 }
local index_set, ids, log = KEYS[1], KEYS[2], KEYS[3]
local bytes_per_entry = tonumber(ARGV[1])

local state = redis.call("HMGET", index_set, "bytes", "counted_to", "changes")
local bytes_of_log = state[3] and redis.call("XLEN", log) * bytes_per_entry or 0
return { code.done, redis.call("ZCARD", ids), tonumber(state[1] or 0) + bytes_of_log, state[2] == "*" and "1" or "0" }
