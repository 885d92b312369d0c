-- Purpose: removes a session.
-- KEYS: 1 session, 2 sessions by creation, 3 by user, 4 by expiry
-- ARGV: 1 id, 2 user name, 3 created so that it sorts
-- Returns: {done} | {not_found}
local code = { done = 0, not_found = 4 }
local session, by_creation, by_user, by_expiry = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, username, sortable = ARGV[1], ARGV[2], ARGV[3]

local removed = redis.call("DEL", session)
local by_time = sortable .. "\0" .. id
redis.call("ZREM", by_creation, by_time)
redis.call("ZREM", by_user, username .. "\0" .. by_time)
redis.call("ZREM", by_expiry, username .. "\0" .. by_time)
return { removed == 1 and code.done or code.not_found }
