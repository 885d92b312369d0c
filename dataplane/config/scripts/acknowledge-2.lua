-- Purpose: renews a replica's heartbeat, by Redis' own clock, and what it has applied.
-- KEYS: 1 replicas, 2 the replica's acknowledgement
-- ARGV: 1 replica's id, 2 revision applied, 3 fields it can't use, as JSON
-- Returns: {}
local replicas, acknowledgement = KEYS[1], KEYS[2]
local replica, revision, nacks = ARGV[1], ARGV[2], ARGV[3]
local expiry_seconds = 60

local time = redis.call("TIME")
local milliseconds = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", replicas, milliseconds, replica)
redis.call("ZREMRANGEBYSCORE", replicas, "-inf", milliseconds - expiry_seconds * 1000)
redis.call("HSET", acknowledgement, "revision", revision, "nacks", nacks)
redis.call("EXPIRE", acknowledgement, expiry_seconds)
return {}
