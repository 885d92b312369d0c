-- Purpose: has writers with an older configuration than this one refused: every writer reads the
-- index set again, which says so.
-- KEYS: 1 index set
-- ARGV: 1 revision of the configuration, 2 new version
-- Returns: {done}
local code = { done = 0 }
local index_set = KEYS[1]
local revision, version = ARGV[1], ARGV[2]

local least = redis.call("HGET", index_set, "min_revision")
if not least or tonumber(least) < tonumber(revision) then
  redis.call("HSET", index_set, "min_revision", revision, "version", version)
end
return { code.done }
