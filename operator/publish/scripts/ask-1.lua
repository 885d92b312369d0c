-- Purpose: asks the writer whether it is still there. A question that it has not answered yet stands for whoever asks after that.
-- KEYS: 1 meta
-- ARGV: 1 epoch of the writer, 2 question
-- Returns: {asked, the question that stands} | {not_the_writer}
local code = { asked = 0, not_the_writer = 1 }
local meta = KEYS[1]
local epoch, question = ARGV[1], ARGV[2]

-- include still-the-writer
redis.call("HSETNX", meta, "question", question)
return { code.asked, redis.call("HGET", meta, "question") }
