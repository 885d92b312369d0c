-- Purpose: takes one from every budget, or from none when one is exhausted. A window opens with the
-- first spending and ends by Redis' own time.
-- KEYS: budgets
-- ARGV: two per budget: limit, milliseconds of the window
-- Returns: {done} | {exhausted, milliseconds until all have something again}
local code = { done = 0, exhausted = 30 }
-- include store-time
local now = store_time()

local wait, open = 0, {}
for at = 1, #KEYS do
  local limit, window = tonumber(ARGV[2 * at - 1]), tonumber(ARGV[2 * at])
  local state = redis.call("HMGET", KEYS[at], "used", "until")
  local used, ends = tonumber(state[1] or 0), tonumber(state[2] or 0)
  -- A clock that was put back must not lock anybody out for longer than a window.
  open[at] = now < ends and ends - now <= window
  if (open[at] and used or 0) >= limit then
    wait = math.max(wait, open[at] and ends - now or window)
  end
end
if wait > 0 then
  return { code.exhausted, wait }
end
for at = 1, #KEYS do
  local window = tonumber(ARGV[2 * at])
  if open[at] then
    redis.call("HINCRBY", KEYS[at], "used", 1)
  else
    redis.call("HSET", KEYS[at], "used", 1, "until", now + window)
    redis.call("PEXPIRE", KEYS[at], window)
  end
end
return { code.done }
