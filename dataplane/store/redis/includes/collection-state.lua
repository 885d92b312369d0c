-- Purpose: in one command, whether the writer knows the indexes in force (index-version.lua has the
-- same for readers), how far the bytes of the collection's texts are counted, and whether its
-- changes have a log; updates the sum and the log (change-log.lua, included before).
local counted_to, has_log
local function is_current(index_set, version)
  local state = redis.call("HMGET", index_set, "version", "counted_to", "changes")
  counted_to, has_log = state[2], state[3]
  return (state[1] or "") == version
end

-- Order of bytes; Lua's own comparison goes by the server's locale.
local function is_up_to(id, other)
  for at = 1, math.min(#id, #other) do
    local mine, its = string.byte(id, at), string.byte(other, at)
    if mine ~= its then
      return mine < its
    end
  end
  return #id <= #other
end

-- "*" = all objects are counted, else those up to this id; the others will be, with the text that
-- they have then.
local function add_bytes(index_set, id, change)
  if counted_to and change ~= 0 and (counted_to == "*" or is_up_to(id, counted_to)) then
    redis.call("HINCRBY", index_set, "bytes", change)
  end
end

-- Ends a write.
local function log_collection_changes(index_set, log, declared, changes)
  if not log_changes(log, declared, has_log, changes) and has_log then
    redis.call("HDEL", index_set, "changes")
  end
end
