-- Purpose: keeps what a replica tells of the quotas of projects, so that it is never there without an end: a replica may die after
--          any command.
-- KEYS: 1 the replica's hash
-- ARGV: 1 seconds until it expires, 2 number of projects of which nothing is told any more, then their names, then project and text
--       of each that is told anew
-- Returns: {done, 1 = what was told before is still there, 0 = nothing was there}
local code = { done = 0 }
local usage = KEYS[1]
local seconds, gone = ARGV[1], tonumber(ARGV[2])
local first_gone = 3
local first_told = first_gone + gone

local was_there = redis.call("EXISTS", usage)
for at = first_gone, first_told - 1 do
  redis.call("HDEL", usage, ARGV[at])
end
for at = first_told, #ARGV, 2 do
  redis.call("HSET", usage, ARGV[at], ARGV[at + 1])
end
redis.call("EXPIRE", usage, seconds)
return { code.done, was_there }
