-- Purpose: stores a session's last refresh and leaves its time to live. The latest one stays,
-- whichever replica's clock is behind: until then there may be tokens.
-- KEYS: 1 session
-- ARGV: 1 last refresh, 2 now, both in Unix seconds
-- Returns: {done} | {not_found}
local code = { done = 0, not_found = 4 }
local session = KEYS[1]
local last_refresh, now = tonumber(ARGV[1]), tonumber(ARGV[2])

local state = redis.call("HMGET", session, "expires", "last_refresh")
local expires, noted = state[1], tonumber(state[2] or 0)
if not expires or tonumber(expires) <= now then
  return { code.not_found }
end
redis.call("HSET", session, "last_refresh", math.max(last_refresh, noted))
return { code.done }
