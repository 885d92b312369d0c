-- Purpose: finds a session by its entry in a list, and removes entries from all lists. An entry of
-- the sessions by user and by expiry is `<user name> 0 <created> 0 <id>`; one by creation has no
-- user name.
local function session_key(prefix, entry)
  return prefix .. string.match(entry, "^.*%z(.*)$")
end

local function unlist(by_creation, by_user, by_expiry, entries)
  local by_time = {}
  for at, entry in ipairs(entries) do
    by_time[at] = string.match(entry, "^%Z*%z(.*)$")
  end
  redis.call("ZREM", by_expiry, unpack(entries))
  redis.call("ZREM", by_user, unpack(entries))
  redis.call("ZREM", by_creation, unpack(by_time))
end
