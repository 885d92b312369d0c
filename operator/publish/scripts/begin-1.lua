-- Purpose: makes the caller the writer, unless somebody has become it since the caller looked, or
--   the Redis belongs to another installation. One that is taken over counts as incomplete until
--   its new owner has published everything.
-- KEYS: 1 meta
-- ARGV: 1 owner, 2 epoch that the caller saw ("" none), 3 epoch to take, 4 a name for the data set
--   in Redis, 5 format, 6 "1" = take over another installation's, 7 mark of the key ring, 8 what to
--   do about stored data ("serve" whatever there is, "accept" it this once, "refuse" what isn't the
--   store that is expected), 9 id of the expected store ("" none yet), 10 id for a store without
--   one, 11 name for a loss that is found, 12 name of the loss that was accepted last ("" none)
-- Returns: {begun, revision published last, id of the store, name of the loss ("" none), "1" =
--   another store was accepted} | {foreign} | {overtaken}
local code = { begun = 0, foreign = 1, overtaken = 2 }
local meta = KEYS[1]
local owner, seen, epoch, dataset_id, format, take_over = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local ring, policy, expected, new_id, loss = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local last_accepted = ARGV[12]

local found = redis.call("HGET", meta, "owner")
local is_foreign = found and found ~= owner
if is_foreign and take_over ~= "1" then
  return { code.foreign }
end
if (redis.call("HGET", meta, "epoch") or "") ~= seen then
  return { code.overtaken }
end
redis.call("HSET", meta, "owner", owner, "epoch", epoch, "format", format, "ring", ring)
redis.call("HSETNX", meta, "dataset_id", dataset_id)
if is_foreign then
  redis.call("HDEL", meta, "complete")
end
local revision = redis.call("HGET", meta, "revision") or "0"
local held = redis.call("HGET", meta, "store_id")
local id = expected ~= "" and expected or held or new_id
local is_other = expected ~= "" and held ~= expected
if policy == "serve" then
  redis.call("HDEL", meta, "refuses_loss")
else
  redis.call("HSET", meta, "refuses_loss", "1")
end
if is_other and policy == "refuse" then
  local named = redis.call("HGET", meta, "data_loss")
  -- A name is used once: a Redis that says it again has gone back behind its acceptance, and lost
  -- what came after it.
  if not named or named == last_accepted then
    named = loss
    redis.call("HSET", meta, "data_loss", named)
  end
  return { code.begun, revision, id, named, "" }
end
redis.call("HSET", meta, "store_id", id)
redis.call("HDEL", meta, "data_loss")
return { code.begun, revision, id, "", is_other and "1" or "" }
