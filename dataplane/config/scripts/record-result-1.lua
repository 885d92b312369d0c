-- Purpose: records that an order about stored data was carried out.
-- KEYS: 1 results
-- ARGV: 1 order's id, 2 what came of it, as JSON
-- Returns: {done}
local code = { done = 0 }
local results = KEYS[1]
local id, result = ARGV[1], ARGV[2]

redis.call("HSET", results, id, result)
return { code.done }
