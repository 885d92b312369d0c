-- Purpose: removes the ids of owners whose entries are no longer kept, and stores how far it came.
-- KEYS: 1 index set, 2 lock, then the owners' ids
-- ARGV: 1 builder's token, 2 version of the index set, 3 member of ids that it came to, "" = the
-- last one
-- Returns: {done}: all are gone | {more} | {stale_index_set} | {busy}: the lock was lost
local code = { done = 0, stale_index_set = 1, busy = 5, more = 6 }
local index_set, lock = KEYS[1], KEYS[2]
local token, version, member = ARGV[1], ARGV[2], ARGV[3]

-- include index-version
-- include build-step

local refusal = step_refusal(code, index_set, lock, token, version)
if refusal then
  return refusal
end
for at = 3, #KEYS do
  redis.call("UNLINK", KEYS[at])
end
if member ~= "" then
  redis.call("HSET", index_set, "owners_cursor", member)
  return { code.more }
end
redis.call("HDEL", index_set, "owners_cursor")
redis.call("DEL", lock)
return { code.done }
