-- Purpose: orders that stored data be removed, or forgets an order and its mark, if the caller is
--   still the writer.
-- KEYS: 1 meta, 2 purges, 3 purged
-- ARGV: 1 epoch, 2 order's id, 3 the order ("" = forget it)
-- Returns: {published} | {not_the_writer}
local code = { published = 0, not_the_writer = 1 }
local meta, purges, purged = KEYS[1], KEYS[2], KEYS[3]
local epoch, id, order = ARGV[1], ARGV[2], ARGV[3]

-- include still-the-writer
if order == "" then
  redis.call("HDEL", purges, id)
  redis.call("HDEL", purged, id)
else
  redis.call("HSETNX", purges, id, order)
end
return { code.published }
