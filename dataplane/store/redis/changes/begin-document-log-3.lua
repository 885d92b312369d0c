-- Purpose: begins the log of a document's changes, unless there is one.
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 random token
-- Returns: {done, newest entry: its id, its fields}
local code = { done = 0 }
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local token = ARGV[1]

-- include begin-log
-- include change-log
-- include document-size

local stored = redis.call("GET", size)
local newest = is_logged(stored) and newest_in(log)
if not newest then
  newest = begin_log(log, token)
  local bytes = bytes_in(stored) or #(redis.call("JSON.GET", document) or "")
  redis.call("SET", size, bytes .. " logged")
end
return { code.done, newest[1], newest[2] }
