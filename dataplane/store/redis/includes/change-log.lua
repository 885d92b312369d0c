-- Purpose: adds entries to a log of changes, or deletes it. Call it at the end: when memory is used
-- up, Redis refuses XADD only as a script's first write. `declared` = `<most entries>
-- <milliseconds that each is kept>`, or "" where the writer declares no log. The log's name is also
-- the channel that tells replicas to look.
local function delete_log(log)
  if redis.call("UNLINK", log) == 1 then
    redis.call("PUBLISH", log, "")
  end
end

local function add_to_log(log, declared, changes)
  local most, kept = string.match(declared, "^(%d+) (%d+)$")
  local id
  for _, change in ipairs(changes) do
    id = redis.call("XADD", log, "MAXLEN", "~", most, "*", unpack(change))
  end
  -- The newest of the old ones stays: those who follow a quiet log are at it. Without an old one,
  -- XREVRANGE would go through the entire log.
  local before = string.format("%.0f", tonumber(string.match(id, "^%d+")) - kept - 1)
  if redis.call("XRANGE", log, "-", before, "COUNT", 1)[1] then
    local expired = redis.call("XREVRANGE", log, before, "-", "COUNT", 1)
    redis.call("XTRIM", log, "MINID", "~", expired[1][1])
  end
  redis.call("PUBLISH", log, "")
end

-- Returns whether the log still exists. A writer that declares none deletes it, because it would
-- have a gap; so would one whose mark, `has_log`, was lost.
local function log_changes(log, declared, has_log, changes)
  if has_log and declared ~= "" then
    add_to_log(log, declared, changes)
    return true
  end
  if has_log or declared ~= "" then
    delete_log(log)
  end
  return false
end
