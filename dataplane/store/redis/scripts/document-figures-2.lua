-- Purpose: how many bytes a document has, and how many members or elements at its top.
-- KEYS: 1 document, 2 its size
-- ARGV: none
-- Returns: {done, bytes, members}
local code = { done = 0 }
local document, size = KEYS[1], KEYS[2]

local kinds = redis.call("JSON.TYPE", document, "$")
if not kinds then
  return { code.done, 0, 0 }
end
local bytes = tonumber(redis.call("GET", size)) or #redis.call("JSON.GET", document)
local members = 0
if kinds[1] == "object" then
  members = redis.call("JSON.OBJLEN", document, "$")[1]
elseif kinds[1] == "array" then
  members = redis.call("JSON.ARRLEN", document, "$")[1]
end
return { code.done, bytes, members }
