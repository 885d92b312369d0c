-- Purpose: makes Redis the store that is expected, whatever it holds, if the caller is still the
--   writer.
-- KEYS: 1 meta
-- ARGV: 1 epoch, 2 id of the expected store
-- Returns: {published} | {not_the_writer}
local code = { published = 0, not_the_writer = 1 }
local meta = KEYS[1]
local epoch, id = ARGV[1], ARGV[2]

-- include still-the-writer
redis.call("HSET", meta, "store_id", id)
redis.call("HDEL", meta, "data_loss")
return { code.published }
