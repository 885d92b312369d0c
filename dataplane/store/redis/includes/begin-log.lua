-- Purpose: begins a log of changes with an entry that says so, and returns that entry. It asks for
-- every right first that writes need from then on: without one of them no log begins, and writes go
-- on. `token` is random, so that an entry of the same millisecond in an earlier log differs.
local function begin_log(log, token)
  redis.call("UNLINK", log)
  redis.call("XTRIM", log, "MINID", "~", "0")
  redis.call("PUBLISH", log, "")
  local fields = { "kind", "none", "begun", token }
  return { redis.call("XADD", log, "*", unpack(fields)), fields }
end

local function newest_in(log)
  return redis.call("XREVRANGE", log, "+", "-", "COUNT", 1)[1]
end
