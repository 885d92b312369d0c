-- Purpose: ends the script when something was published since the caller sealed its values. Wants:
--   code, meta, last.
local published = redis.call("HGET", meta, "revision") or "0"
if published ~= last then
  return { code.overtaken, published }
end
