-- Purpose: says when the time of a collection comes again, unless it was noted or taken meanwhile.
-- KEYS: 1 sorted set of collections by that time
-- ARGV: 1 collection, 2 its time when it was taken, 3 milliseconds from now, "" = never
-- Returns: {done, its time, "" = never} | {conflict}
local code = { done = 0, conflict = 3 }
local expiring = KEYS[1]
local collection, taken, milliseconds = ARGV[1], tonumber(ARGV[2]), ARGV[3]

-- include store-time

if tonumber(redis.call("ZSCORE", expiring, collection) or "-1") ~= taken then
  return { code.conflict }
end
if milliseconds == "" then
  redis.call("ZREM", expiring, collection)
  return { code.done, "" }
end
local at = store_time() + tonumber(milliseconds)
redis.call("ZADD", expiring, at, collection)
return { code.done, at }
