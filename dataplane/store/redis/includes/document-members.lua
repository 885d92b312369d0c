-- Purpose: counts the members or elements at the top of a document; nil without one.
local function members_of(document)
  local kinds = redis.call("JSON.TYPE", document, "$")
  if not kinds then
    return nil
  end
  local kind = kinds[1]
  if kind == "object" then
    return redis.call("JSON.OBJLEN", document, "$")[1]
  elseif kind == "array" then
    return redis.call("JSON.ARRLEN", document, "$")[1]
  end
  return 0
end
