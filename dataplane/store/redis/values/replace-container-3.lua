-- Purpose: replaces the value at a path while its text is still the one that the writer read and
-- changed elsewhere: for keys that no path of Redis JSON can name.
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 SHA-1 of the text that was read, 2 text, 3 maximum bytes of the document, 4 maximum bytes
-- by which it may grow ("" = any), 5 declared log (includes/change-log.lua), then the path's
-- segments: none = the entire value
-- Returns: {done, bytes by which it grew} | {conflict} | {document_too_large} | {quota_exceeded}:
-- it may not grow so much
local code = { done = 0, quota_exceeded = 2, conflict = 3, document_too_large = 18 }
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local previous, text, max_bytes, max_growth = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local declared = ARGV[5]
local first, last = 6, #ARGV

-- include change-log
-- include document-size
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
local old_size = bytes_in(redis.call("GET", size)) or #redis.call("JSON.GET", document)
local growth = #text - #stored
if old_size + growth > max_bytes then
  return { code.document_too_large }
end
if max_growth and growth > max_growth then
  return { code.quota_exceeded }
end
redis.call("JSON.SET", document, path, text)
set_size(size, old_size + growth, log, declared)
return { code.done, growth }
