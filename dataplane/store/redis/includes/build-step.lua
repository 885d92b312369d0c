-- Purpose: why a step of a builder can't be carried out: its lock was lost, or the indexes in force
-- are not those that the step was computed from (index-version.lua). Returns the script's reply, or
-- nothing; its codes are `busy` and `stale_index_set`.
local function step_refusal(code, index_set, lock, token, version)
  if redis.call("GET", lock) ~= token then
    return { code.busy }
  end
  if not is_current(index_set, version) then
    return { code.stale_index_set }
  end
end
