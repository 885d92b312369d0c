-- Purpose: makes the caller the writer, unless somebody has become it since the caller looked, or the Redis belongs to another
--          installation. One that is taken over counts as incomplete until its new owner has published everything.
-- KEYS: 1 meta
-- ARGV: 1 owner, 2 epoch that the caller saw ("" none), 3 epoch to take, 4 a name for this filling of Redis, 5 format,
--       6 "1" = take over another installation's, 7 mark of the key ring
-- Returns: {begun, revision published last} | {foreign} | {overtaken}
local code = { begun = 0, foreign = 1, overtaken = 2 }
local meta = KEYS[1]
local owner, seen, epoch, instance, format, take_over = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ring = ARGV[7]

local found = redis.call("HGET", meta, "owner")
local is_foreign = found and found ~= owner
if is_foreign and take_over ~= "1" then
  return { code.foreign }
end
if (redis.call("HGET", meta, "epoch") or "") ~= seen then
  return { code.overtaken }
end
redis.call("HSET", meta, "owner", owner, "epoch", epoch, "format", format, "ring", ring)
redis.call("HSETNX", meta, "instance", instance)
if is_foreign then
  redis.call("HDEL", meta, "complete")
end
return { code.begun, redis.call("HGET", meta, "revision") or "0" }
