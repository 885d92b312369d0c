-- Purpose: names what is stored under a root key now, for its purge.
-- KEYS: 1 document, 2 its name, 3 log
-- ARGV: 1 name to give, if there is none yet
-- Returns: {done, name} | {missing_document}
local code = { done = 0, missing_document = 10 }
local document, id, log = KEYS[1], KEYS[2], KEYS[3]
local name = ARGV[1]

if redis.call("EXISTS", document, log) == 0 then
  return { code.missing_document }
end
redis.call("SET", id, name, "NX")
return { code.done, redis.call("GET", id) }
