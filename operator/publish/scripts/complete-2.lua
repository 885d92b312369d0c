-- Purpose: notes that every project's configuration stands in Redis, if the caller is still the
--   writer, and sends replicas a hint.
-- KEYS: 1 meta, 2 changes
-- ARGV: 1 epoch, 2 most entries of the stream
-- Returns: {published} | {not_the_writer}
local code = { published = 0, not_the_writer = 1 }
local meta, changes = KEYS[1], KEYS[2]
local epoch, most = ARGV[1], ARGV[2]

-- include still-the-writer
if redis.call("HSET", meta, "complete", "1") == 1 then
  redis.call("XADD", changes, "MAXLEN", "~", most, "*", "complete", "1")
end
return { code.published }
