-- Purpose: records that an order about stored data was carried out.
-- KEYS: 1 orders that were carried out
-- ARGV: 1 order's id, 2 when, in Unix milliseconds; of other orders, what came of it
-- Returns: {done}
local code = { done = 0 }
local purged = KEYS[1]
local id, mark = ARGV[1], ARGV[2]

redis.call("HSET", purged, id, mark)
return { code.done }
