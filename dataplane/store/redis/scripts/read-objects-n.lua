-- Purpose: reads objects until they make enough bytes for one call.
-- KEYS: the objects
-- ARGV: 1 maximum number of bytes
-- Returns: {done, how many of the keys were done with, texts}
local code = { done = 0 }
local budget = tonumber(ARGV[1])

-- include read-texts

local texts, done = read_texts(KEYS, budget)
return { code.done, done, texts }
