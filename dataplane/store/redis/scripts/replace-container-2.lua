-- Purpose: replaces the value at a path while its text is still the one that the writer read and changed elsewhere: for keys
-- that no path of Redis JSON can name.
-- KEYS: 1 document, 2 its size
-- ARGV: 1 SHA-1 of the text that was read, 2 text, 3 most bytes of the document, then the path's segments: none = the whole value
-- Returns: {done} | {conflict} | {document_too_large}
local code = { done = 0, conflict = 3, document_too_large = 18 }
local document, size = KEYS[1], KEYS[2]
local previous, text, most = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first, last = 4, #ARGV

-- include document-path

local path = path_of(document, first, last)
local found = path and redis.call("JSON.GET", document, path)
if not found or found == "[]" then
  return { code.conflict }
end
local stored = string.sub(found, 2, -2)
if redis.sha1hex(stored) ~= previous then
  return { code.conflict }
end
local old_size = tonumber(redis.call("GET", size)) or #redis.call("JSON.GET", document)
local new_size = old_size + #text - #stored
if new_size > most then
  return { code.document_too_large }
end
redis.call("JSON.SET", document, path, text)
redis.call("SET", size, new_size)
return { code.done }
