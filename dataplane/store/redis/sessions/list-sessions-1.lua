-- Purpose: live sessions, newest first, from a bounded number of members.
-- KEYS: 1 sorted set; the sessions' keys are derived: only the set knows them, and they share its
-- slot
-- ARGV: 1 prefix of the sessions' keys, 2 lower and 3 upper bound of the members, as ZRANGE BYLEX
-- takes them, 4 maximum number of sessions, 5 now in Unix seconds, 6 maximum number of members
-- Returns: {done, sessions, upper bound to continue with ("" = at the end)}: each session as
-- HGETALL gives it
local code = { done = 0 }
local set = KEYS[1]
local prefix, lower, upper = ARGV[1], ARGV[2], ARGV[3]
local max_sessions, now, batch = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function expiry_of(session)
  for field = 1, #session, 2 do
    if session[field] == "expires" then
      return tonumber(session[field + 1])
    end
  end
  return 0
end

local sessions = {}
local members = redis.call("ZRANGE", set, upper, lower, "BYLEX", "REV", "LIMIT", 0, batch)
for at = 1, #members do
  local key = prefix .. string.match(members[at], "^.*%z(.*)$")
  local session = redis.call("HGETALL", key)
  if #session == 0 then
    -- Expired, or on another node while a Cluster moves the slot: then Redis ends the script here.
    redis.call("EXISTS", set, key)
  end
  if expiry_of(session) > now then
    sessions[#sessions + 1] = session
  end
  if #sessions == max_sessions then
    return { code.done, sessions, "" }
  end
end
return { code.done, sessions, #members < batch and "" or "(" .. members[#members] }
