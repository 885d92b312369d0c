-- Purpose: takes collections whose time has come, so that no other replica takes them meanwhile.
-- KEYS: 1 sorted set of collections by the time at which they are to be taken
-- ARGV: 1 maximum number of collections, 2 milliseconds until their time comes again
-- Returns: {done, that time, collections …}
local code = { done = 0 }
local expiring = KEYS[1]
local max, taken = tonumber(ARGV[1]), tonumber(ARGV[2])

-- include store-time

local now = store_time()
local found = { code.done, now + taken }
for _, collection in ipairs(redis.call("ZRANGE", expiring, "-inf", now, "BYSCORE", "LIMIT", 0, max)) do
  redis.call("ZADD", expiring, now + taken, collection)
  found[#found + 1] = collection
end
return found
