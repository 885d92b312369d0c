-- Purpose: tells every replica that a session's access tokens are void, and forgets those whose tokens have expired.
-- KEYS: 1 stream of ended sessions, 2 sorted set of them, scored by the expiry of their tokens
-- ARGV: 1 session's id, 2 when its tokens expire, 3 scores up to here are forgotten, both in Unix seconds, 4 length of the stream
-- Returns: {done}
local code = { done = 0 }
local stream, live = KEYS[1], KEYS[2]
local id, tokens_expire, forget, length = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

redis.call("ZADD", live, "GT", tokens_expire, id)
redis.call("XADD", stream, "MAXLEN", "~", length, "*", "session", id, "tokens_expire", tokens_expire)
redis.call("ZREMRANGEBYSCORE", live, "-inf", forget)
return { code.done }
