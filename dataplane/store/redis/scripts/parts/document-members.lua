-- Purpose: counts the members or elements at the top of a document that is there.
local function members_of(document)
  local kind = redis.call("JSON.TYPE", document, "$")[1]
  if kind == "object" then
    return redis.call("JSON.OBJLEN", document, "$")[1]
  elseif kind == "array" then
    return redis.call("JSON.ARRLEN", document, "$")[1]
  end
  return 0
end
