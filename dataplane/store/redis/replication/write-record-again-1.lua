-- Purpose: writes an idempotency record as it is, and so also what was written before it: it is
-- then among the writes of this connection, for which WAIT waits.
-- KEYS: 1 record
-- ARGV: none
-- Returns: {repeated, text of the record} | {not_found}
local code = { not_found = 4, repeated = 7 }

local text = redis.call("GET", KEYS[1])
if not text then
  return { code.not_found }
end
redis.call("SET", KEYS[1], text, "KEEPTTL")
return { code.repeated, text }
