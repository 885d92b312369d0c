-- Purpose: whether an object has this value in the sorted set of a unique rule.
local function is_taken(set, value)
  local members = redis.call("ZRANGE", set, "[" .. value .. "\0", "(" .. value .. "\1", "BYLEX", "LIMIT", 0, 1)
  return members[1] ~= nil
end
