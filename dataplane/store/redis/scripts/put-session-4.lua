-- Purpose: stores a session until it expires, and forgets some that did.
-- KEYS: 1 session, 2 sessions by creation, 3 by user, 4 by expiry
-- ARGV: 1 id, 2 user name, 3 credential revision, 4 created, 5 created so that it sorts, 6 last refresh, 7 expires,
--       8 now, all in Unix seconds, 9 milliseconds to live
-- Returns: {done}
local code = { done = 0 }
local session, by_creation, by_user, by_expiry = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, username, revision, created, sortable = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local last_refresh, expires, now, milliseconds = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
local trimmed = 20

redis.call(
  "HSET", session,
  "id", id, "username", username, "revision", revision,
  "created", created, "last_refresh", last_refresh, "expires", expires
)
redis.call("PEXPIRE", session, milliseconds)
local by_time = sortable .. "\0" .. id
local entry = username .. "\0" .. by_time
redis.call("ZADD", by_creation, 0, by_time)
redis.call("ZADD", by_user, 0, entry)
redis.call("ZADD", by_expiry, expires, entry)
for _, old in ipairs(redis.call("ZRANGE", by_expiry, "-inf", now, "BYSCORE", "LIMIT", 0, trimmed)) do
  redis.call("ZREM", by_expiry, old)
  redis.call("ZREM", by_user, old)
  redis.call("ZREM", by_creation, string.match(old, "^%Z*%z(.*)$"))
end
return { code.done }
