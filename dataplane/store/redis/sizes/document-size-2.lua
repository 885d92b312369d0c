-- Purpose: how many bytes a document has, and how many members or elements at its top.
-- KEYS: 1 document, 2 its size
-- ARGV: none
-- Returns: {done, bytes, members}
local code = { done = 0 }
local document, size = KEYS[1], KEYS[2]

-- include document-members

local members = members_of(document)
if not members then
  return { code.done, 0, 0 }
end
local bytes = tonumber(redis.call("GET", size)) or #redis.call("JSON.GET", document)
return { code.done, bytes, members }
