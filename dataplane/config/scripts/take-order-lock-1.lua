-- Purpose: takes the lock for carrying out orders of one kind, unless another replica has it.
-- KEYS: 1 lock
-- ARGV: 1 token of the replica, 2 milliseconds that the lock lasts
-- Returns: {done} | {busy}
local code = { done = 0, busy = 5 }
local lock = KEYS[1]
local token, milliseconds = ARGV[1], ARGV[2]

if redis.call("SET", lock, token, "NX", "PX", milliseconds) then
  return { code.done }
end
return { code.busy }
