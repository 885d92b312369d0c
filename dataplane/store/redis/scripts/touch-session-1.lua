-- Purpose: notes a session's last refresh and leaves its time to live.
-- KEYS: 1 session
-- ARGV: 1 last refresh, 2 now, both in Unix seconds
-- Returns: {done} | {not_found}
local code = { done = 0, not_found = 4 }
local session = KEYS[1]
local last_refresh, now = ARGV[1], tonumber(ARGV[2])

local expires = redis.call("HGET", session, "expires")
if not expires or tonumber(expires) <= now then
  return { code.not_found }
end
redis.call("HSET", session, "last_refresh", last_refresh)
return { code.done }
