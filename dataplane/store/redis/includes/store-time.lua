-- Purpose: Redis' own time in Unix milliseconds, the same for all replicas, whose clocks may differ
-- by minutes.
local function store_time()
  local time = redis.call("TIME")
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end
