-- Purpose: gives an order about stored data, or forgets one and what came of it, if the caller is
--   still the writer.
-- KEYS: 1 meta, 2 orders, 3 results
-- ARGV: 1 epoch, 2 order's id, 3 the order ("" = forget it)
-- Returns: {published} | {not_the_writer}
local code = { published = 0, not_the_writer = 1 }
local meta, orders, results = KEYS[1], KEYS[2], KEYS[3]
local epoch, id, order = ARGV[1], ARGV[2], ARGV[3]

-- include still-the-writer
if order == "" then
  redis.call("HDEL", orders, id)
  redis.call("HDEL", results, id)
else
  redis.call("HSETNX", orders, id, order)
end
return { code.published }
