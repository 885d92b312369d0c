-- Purpose: how many objects have expired and are stored yet, and how many members a sorted set has
-- at the same time.
-- KEYS: 1 index set, 2 index of expiry, 3 sorted set
-- ARGV: 1 version of the index set
-- Returns: {done, time, number of those objects, number of members, first entry of the index or ""}
-- | {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local index_set, index, set = KEYS[1], KEYS[2], KEYS[3]
local version = ARGV[1]

-- include index-version
-- include store-time
-- include encoded-time

if not is_current(index_set, version) then
  return { code.stale_index_set }
end
local now = encoded_time()
local expired = redis.call("ZLEXCOUNT", index, "-", "(" .. now .. "\1")
return { code.done, now, expired, redis.call("ZCARD", set), redis.call("ZRANGE", index, 0, 0)[1] or "" }
