-- Purpose: stores a session until it expires, unless the project has as many as it may. Of a user
-- who has as many as one may, those refreshed least recently are removed. Removes some that
-- expired, by Redis' own time: a replica's clock may be days ahead.
-- KEYS: 1 session, 2 sessions by creation, 3 by user, 4 by expiry; the keys of the user's other
-- sessions are derived: only the set knows them, and they share its slot
-- ARGV: 1 id, 2 user name, 3 credential revision, 4 created, 5 created so that it sorts, 6 last
-- refresh, 7 expires, all in Unix seconds, 8 milliseconds to live, 9 prefix of the sessions' keys,
-- 10 maximum number of sessions of a user, 11 of the project, 12 the Project's UID
-- Returns: {done} | {quota_exceeded}
local code = { done = 0, quota_exceeded = 2 }
local session, by_creation, by_user, by_expiry = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local id, username, revision, created, sortable = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local last_refresh, expires, milliseconds = ARGV[6], ARGV[7], tonumber(ARGV[8])
local prefix, max_of_user, max_of_project, project_uid = ARGV[9], tonumber(ARGV[10]), tonumber(ARGV[11]), ARGV[12]
-- Per login: one adds one, so that the lists shrink to what they may hold within a few.
local expired_at_once, ended_at_once = 200, 20
-- No setting allows a user more.
local compared = 1000
-- An hour, by which the clocks of replicas may differ.
local slack = 3600000

-- include session-lists
-- include store-time
local now = store_time()

-- One that is gone comes before all others.
local function refreshed(entry)
  return tonumber(redis.call("HGET", session_key(prefix, entry), "last_refresh") or -1)
end

local function end_least_recent(count)
  local found = redis.call("ZRANGE", by_user, "[" .. username .. "\0", "(" .. username .. "\1", "BYLEX", "LIMIT", 0, compared)
  local ranked = {}
  for at, entry in ipairs(found) do
    ranked[at] = { entry = entry, refreshed = refreshed(entry), at = at }
  end
  table.sort(ranked, function(one, other)
    if one.refreshed == other.refreshed then
      return one.at < other.at
    end
    return one.refreshed < other.refreshed
  end)
  local entries, keys = {}, {}
  for at = 1, math.min(count, ended_at_once, #ranked) do
    entries[at] = ranked[at].entry
    keys[at] = session_key(prefix, ranked[at].entry)
  end
  redis.call("DEL", unpack(keys))
  unlist(by_creation, by_user, by_expiry, entries)
end

local function keep_lists(time_to_live)
  for _, list in ipairs({ by_creation, by_user, by_expiry }) do
    redis.call("PEXPIRE", list, time_to_live + slack)
  end
end

local expired = redis.call("ZRANGE", by_expiry, "-inf", now / 1000, "BYSCORE", "LIMIT", 0, expired_at_once)
if #expired > 0 then
  unlist(by_creation, by_user, by_expiry, expired)
end
-- If more have expired than one call can drop, the next logins continue, and none is refused.
if #expired < expired_at_once and redis.call("ZCARD", by_expiry) >= max_of_project then
  return { code.quota_exceeded }
end
local surplus = redis.call("ZLEXCOUNT", by_user, "[" .. username .. "\0", "(" .. username .. "\1") + 1 - max_of_user
if surplus > 0 then
  end_least_recent(surplus)
end

redis.call(
  "HSET", session,
  "id", id, "username", username, "credential_revision", revision,
  "created", created, "last_refresh", last_refresh, "expires", expires, "project_uid", project_uid
)
redis.call("PEXPIRE", session, milliseconds)
local by_time = sortable .. "\0" .. id
local entry = username .. "\0" .. by_time
redis.call("ZADD", by_creation, 0, by_time)
redis.call("ZADD", by_user, 0, entry)
redis.call("ZADD", by_expiry, (now + milliseconds) / 1000, entry)
-- All three begin and end together.
if redis.call("PEXPIRE", by_expiry, milliseconds, "GT") == 1 then
  keep_lists(milliseconds)
elseif redis.call("PEXPIRE", by_expiry, milliseconds, "NX") == 1 then
  keep_lists(milliseconds)
end
return { code.done }
