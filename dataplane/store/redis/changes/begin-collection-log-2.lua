-- Purpose: begins the log of a collection's changes, unless there is one.
-- KEYS: 1 index set, 2 log
-- ARGV: 1 random token
-- Returns: {done, newest entry: its id, its fields}
local code = { done = 0 }
local index_set, log = KEYS[1], KEYS[2]
local token = ARGV[1]

-- include begin-log

local newest = redis.call("HGET", index_set, "changes") and newest_in(log)
if not newest then
  newest = begin_log(log, token)
  redis.call("HSET", index_set, "changes", 1)
end
return { code.done, newest[1], newest[2] }
