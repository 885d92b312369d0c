-- Purpose: gives one back to every budget whose window is still open, by Redis' own time.
-- KEYS: budgets
-- ARGV: none
-- Returns: {done}
local code = { done = 0 }
-- include store-time
local now = store_time()

for at = 1, #KEYS do
  local state = redis.call("HMGET", KEYS[at], "used", "until")
  if state[1] and tonumber(state[1]) > 0 and now < tonumber(state[2]) then
    redis.call("HINCRBY", KEYS[at], "used", -1)
  end
end
return { code.done }
