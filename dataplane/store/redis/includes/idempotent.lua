-- Purpose: carries a write out unless its idempotency record exists, and leaves the record with it:
-- both or neither. Between the two halves of this file is a complete script
-- (idempotency-records.ts). The last of KEYS is the name of the record, the last two of ARGV are
-- its text and the seconds until it expires. Answers as the script does, or {repeated, text of the
-- record}.
local record, record_seconds, record_text = table.remove(KEYS), table.remove(ARGV), table.remove(ARGV)
local done, repeated, created = 0, 7, 19

local found = redis.call("GET", record)
if found then
  return { repeated, found }
end
local function write()
-- the script
end
local reply = write()
if reply[1] == done or reply[1] == created then
  redis.call("SET", record, record_text, "EX", record_seconds)
end
return reply
