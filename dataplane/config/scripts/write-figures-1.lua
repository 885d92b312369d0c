-- Purpose: stores figures of projects; the hash always has an expiry, because the replica may die
-- after any command.
-- KEYS: 1 hash
-- ARGV: 1 seconds until it expires, 2 number of projects that no longer have figures, then their
-- names, then name and text of each project whose figures changed
-- Returns: {done, 1 = the former figures are still there, 0 = nothing was there}
local code = { done = 0 }
local figures = KEYS[1]
local seconds, gone = ARGV[1], tonumber(ARGV[2])
local first_gone = 3
local first_changed = first_gone + gone

local was_there = redis.call("EXISTS", figures)
for at = first_gone, first_changed - 1 do
  redis.call("HDEL", figures, ARGV[at])
end
for at = first_changed, #ARGV, 2 do
  redis.call("HSET", figures, ARGV[at], ARGV[at + 1])
end
redis.call("EXPIRE", figures, seconds)
return { code.done, was_there }
