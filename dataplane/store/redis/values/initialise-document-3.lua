-- Purpose: stores an entire document unless there is one.
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 text, 2 declared log (includes/change-log.lua)
-- Returns: {done} | {key_exists}
local code = { done = 0, key_exists = 16 }
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local text, declared = ARGV[1], ARGV[2]

-- include change-log
-- include document-size

if not redis.call("JSON.SET", document, "$", text, "NX") then
  return { code.key_exists }
end
set_size(size, #text, log, declared)
return { code.done }
