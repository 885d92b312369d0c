-- Purpose: reads an object together with its owner, of one owner only when one is named.
-- KEYS: 1 ids, 2 object
-- ARGV: 1 id, 2 owner, or "" for any
-- Returns: {done, text, owner} | {not_found}
local code = { done = 0, not_found = 4 }
local ids, object_key = KEYS[1], KEYS[2]
local id, owner = ARGV[1], ARGV[2]

if owner ~= "" then
  if not redis.call("ZSCORE", ids, id .. "\0" .. owner) then
    return { code.not_found }
  end
else
  local members = redis.call("ZRANGE", ids, "[" .. id .. "\0", "(" .. id .. "\1", "BYLEX", "LIMIT", 0, 1)
  if not members[1] then
    return { code.not_found }
  end
  owner = string.sub(members[1], #id + 2)
end
local text = redis.call("JSON.GET", object_key)
if not text then
  return { code.not_found }
end
return { code.done, text, owner }
