-- Purpose: the ids of an index's members that lie in some ranges, all of them in one step: read in several, an object whose value
-- changes in between could be left out.
-- KEYS: 1 sorted set, 2 index set
-- ARGV: 1 version of the index set, 2 most members, then two bounds of each range, as of ZRANGE BYLEX
-- Returns: {done, ids} | {stale_index_set} | {more}: there are more than that
local code = { done = 0, stale_index_set = 1, more = 6 }
local set, index_set = KEYS[1], KEYS[2]
local version, most = ARGV[1], tonumber(ARGV[2])
local first_range = 3

-- include index-version
-- include member-id

if not is_current(index_set, version) then
  return { code.stale_index_set }
end
local ids = {}
for at = first_range, #ARGV, 2 do
  local members = redis.call("ZRANGE", set, ARGV[at], ARGV[at + 1], "BYLEX", "LIMIT", 0, most + 1 - #ids)
  for each = 1, #members do
    ids[#ids + 1] = last_part(members[each])
  end
  if #ids > most then
    return { code.more }
  end
end
return { code.done, ids }
