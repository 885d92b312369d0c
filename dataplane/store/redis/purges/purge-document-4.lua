-- Purpose: removes a document that still is the one that was named.
-- KEYS: 1 document, 2 its size, 3 its name, 4 log
-- ARGV: 1 name that it was given
-- Returns: {done} | {not_found}: it has gone; another one may be there
local code = { done = 0, not_found = 4 }
local document, size, id, log = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local name = ARGV[1]

-- include change-log

if redis.call("GET", id) ~= name then
  return { code.not_found }
end
redis.call("UNLINK", document, size, id)
delete_log(log)
return { code.done }
