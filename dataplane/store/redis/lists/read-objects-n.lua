-- Purpose: reads objects until they make enough bytes for one call.
-- KEYS: the objects
-- ARGV: 1 maximum number of bytes
-- Returns: {done, the text of each key that was done with, nil where it is gone}
local code = { done = 0 }
local budget = tonumber(ARGV[1])

-- include read-texts

return { code.done, read_texts(KEYS, budget) }
