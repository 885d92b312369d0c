-- Purpose: reads documents until they make enough bytes for one call.
-- KEYS: documents
-- ARGV: 1 most bytes, 2 how many to read at once at first
-- Returns: {done, how many of the keys were done with, texts}
local code = { done = 0 }
local budget, batch = tonumber(ARGV[1]), tonumber(ARGV[2])

-- include read-texts

local texts, done = read_texts(KEYS, budget, batch)
return { code.done, done, texts }
