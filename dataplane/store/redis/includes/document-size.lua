-- Purpose: reads and stores the bytes of a document's text: `<bytes>`, or `<bytes> logged` while
-- its changes have a log (change-log.lua, included before), so that a write learns of the log
-- without a further command.
local function bytes_in(stored)
  return stored and tonumber(string.match(stored, "^%d+"))
end

local function is_logged(stored)
  return stored and string.sub(stored, -7) == " logged"
end

-- Ends a write.
local function set_size(size, bytes, log, declared)
  local before = redis.call("SET", size, bytes, "GET")
  if log_changes(log, declared, is_logged(before), { { "kind", "put" } }) then
    redis.call("SET", size, bytes .. " logged")
  end
end
