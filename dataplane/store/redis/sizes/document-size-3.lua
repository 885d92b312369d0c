-- Purpose: how many bytes a document and the log of its changes have, and how many members or
-- elements at its top.
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 bytes of an entry of the log
-- Returns: {done, bytes, members}
local code = { done = 0 }
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local bytes_per_entry = tonumber(ARGV[1])

-- include change-log
-- include document-size
-- include document-members

local members = members_of(document)
if not members then
  return { code.done, 0, 0 }
end
local stored = redis.call("GET", size)
local bytes = bytes_in(stored) or #redis.call("JSON.GET", document)
local bytes_of_log = is_logged(stored) and redis.call("XLEN", log) * bytes_per_entry or 0
return { code.done, bytes + bytes_of_log, members }
