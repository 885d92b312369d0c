-- Purpose: renews a replica's heartbeat, by Redis' own clock, and its acknowledgement.
-- KEYS: 1 replicas, 2 the replica's acknowledgement
-- ARGV: 1 replica's id, 2 revision applied, 3 fields it can't use, as JSON, 4 ids of its ring's
-- keys, as JSON, 5 indexes that it is building, as JSON, 6 newest format of configuration that it
-- reads, 7 external issuers of which it needs a key, as JSON
-- Returns: {}
local replicas, acknowledgement = KEYS[1], KEYS[2]
local replica, revision, refusals, kids, building, format = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local wanted_keys = ARGV[7]
local expiry_seconds = 60

local time = redis.call("TIME")
local milliseconds = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call("ZADD", replicas, milliseconds, replica)
redis.call("ZREMRANGEBYSCORE", replicas, "-inf", milliseconds - expiry_seconds * 1000)
redis.call("HSET", acknowledgement, "revision", revision, "refusals", refusals, "kids", kids, "building", building, "format", format,
  "wantedKeys", wanted_keys)
redis.call("EXPIRE", acknowledgement, expiry_seconds)
return {}
