-- Purpose: removes the sessions of one Project, by its UID, among a few that come after a cursor.
-- Those of another Project of that name stay.
-- KEYS: 1 sessions by creation, 2 by user, 3 by expiry; the sessions' keys are derived: only the
-- set knows them, and they share its slot
-- ARGV: 1 prefix of the sessions' keys, 2 UID, 3 the last entry by user that was read ("" = begin),
-- 4 maximum number of entries
-- Returns: {done} | {more, cursor}
local code = { done = 0, more = 6 }
local by_creation, by_user, by_expiry = KEYS[1], KEYS[2], KEYS[3]
local prefix, uid, cursor, max_entries = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])

-- include session-lists

-- Expired ones are only in the lists; or they are on another node while a Cluster moves the slot:
-- then Redis ends the script here.
local function is_gone(key)
  return redis.call("EXISTS", by_user, key) < 2
end

local entries = redis.call("ZRANGE", by_user, cursor == "" and "-" or "(" .. cursor, "+", "BYLEX", "LIMIT", 0, max_entries)
for at = 1, #entries do
  local key = session_key(prefix, entries[at])
  local project_uid = redis.call("HGET", key, "project_uid")
  if project_uid == uid or not project_uid and is_gone(key) then
    redis.call("DEL", key)
    unlist(by_creation, by_user, by_expiry, { entries[at] })
  end
end
if #entries < max_entries then
  return { code.done }
end
return { code.more, entries[#entries] }
