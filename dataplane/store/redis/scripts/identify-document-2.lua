-- Purpose: names what is stored under a root key now, for its purge.
-- KEYS: 1 document, 2 its name
-- ARGV: 1 name to give, if there is none yet, 2 milliseconds that it is good for: an earlier version's purge leaves it behind
-- Returns: {done, name} | {missing_document}
local code = { done = 0, missing_document = 10 }
local document, id = KEYS[1], KEYS[2]
local name, milliseconds = ARGV[1], ARGV[2]

if redis.call("EXISTS", document) == 0 then
  return { code.missing_document }
end
redis.call("SET", id, name, "NX", "PX", milliseconds)
return { code.done, redis.call("GET", id) }
