-- Purpose: answers a question to the writer by taking it away, if the caller still is the writer.
-- KEYS: 1 meta
-- ARGV: 1 epoch
-- Returns: {answered} | {not_the_writer}
local code = { answered = 0, not_the_writer = 1 }
local meta = KEYS[1]
local epoch = ARGV[1]

-- include still-the-writer
redis.call("HDEL", meta, "question")
return { code.answered }
