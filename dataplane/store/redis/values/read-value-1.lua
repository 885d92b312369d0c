-- Purpose: reads the value at a path whose segments could be keys or indexes.
-- KEYS: 1 document
-- ARGV: the path's segments
-- Returns: {done, text in brackets} | {missing_document} | {not_found}
local code = { done = 0, not_found = 4, missing_document = 10 }
local document = KEYS[1]

-- include document-path

local path = path_of(document, 1, #ARGV)
local text = redis.call("JSON.GET", document, path or "$")
if not text then
  return { code.missing_document }
end
if not path or text == "[]" then
  return { code.not_found }
end
return { code.done, text }
