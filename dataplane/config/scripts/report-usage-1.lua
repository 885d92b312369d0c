-- Purpose: keeps what a replica reports of the quotas of projects; the hash always has an expiry, because the replica may die after any
--          command.
-- KEYS: 1 the replica's hash
-- ARGV: 1 seconds until it expires, 2 number of projects that are no longer reported, then their names, then name and text of each
--       project whose report changed
-- Returns: {done, 1 = the former reports are still there, 0 = nothing was there}
local code = { done = 0 }
local usage = KEYS[1]
local seconds, gone = ARGV[1], tonumber(ARGV[2])
local first_gone = 3
local first_changed = first_gone + gone

local was_there = redis.call("EXISTS", usage)
for at = first_gone, first_changed - 1 do
  redis.call("HDEL", usage, ARGV[at])
end
for at = first_changed, #ARGV, 2 do
  redis.call("HSET", usage, ARGV[at], ARGV[at + 1])
end
redis.call("EXPIRE", usage, seconds)
return { code.done, was_there }
