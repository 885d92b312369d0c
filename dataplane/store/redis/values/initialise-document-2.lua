-- Purpose: stores an entire document unless there is one.
-- KEYS: 1 document, 2 its size
-- ARGV: 1 text
-- Returns: {done} | {key_exists}
local code = { done = 0, key_exists = 16 }
local document, size = KEYS[1], KEYS[2]
local text = ARGV[1]

if not redis.call("JSON.SET", document, "$", text, "NX") then
  return { code.key_exists }
end
redis.call("SET", size, #text)
return { code.done }
