-- Purpose: carries a write out unless its receipt is there already, and leaves the receipt with it: both or neither. What stands
-- between the two halves of this file is a whole script (remembered-script.ts). The last of KEYS is the receipt's, the last two of
-- ARGV are its text and the seconds that it is kept. Answers as the script does, or {repeated, text of the receipt}.
local receipt, receipt_seconds, receipt_text = table.remove(KEYS), table.remove(ARGV), table.remove(ARGV)
local done, repeated, created = 0, 7, 19

local found = redis.call("GET", receipt)
if found then
  return { repeated, found }
end
local function write()
-- the script
end
local reply = write()
if reply[1] == done or reply[1] == created then
  redis.call("SET", receipt, receipt_text, "EX", receipt_seconds)
end
return reply
