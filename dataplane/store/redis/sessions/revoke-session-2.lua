-- Purpose: announces to every replica that a session's access tokens are void, and removes sessions
-- whose tokens have expired. By Redis' clock alone: a replica's may jump. A clock that was ahead
-- made tokens of a later time, which are void then, too.
-- KEYS: 1 stream of ended sessions, 2 sorted set of them, scored by the expiry of their tokens in
-- Unix seconds
-- ARGV: 1 session's id, 2 seconds until its tokens expire, 3 seconds after that until it is
-- removed, 4 length of the stream, 5 when the latest of them was made, in Unix seconds
-- Returns: {done}
local code = { done = 0 }
local stream, live = KEYS[1], KEYS[2]
local id, seconds, grace, length, latest = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])

local now = tonumber(redis.call("TIME")[1])
local tokens_expire = math.max(now, latest) + seconds
redis.call("ZADD", live, "GT", tokens_expire, id)
redis.call("XADD", stream, "MAXLEN", "~", length, "*", "session", id, "tokens_expire", tokens_expire)
redis.call("ZREMRANGEBYSCORE", live, "-inf", now - grace)
return { code.done }
