-- Purpose: a sorted set's members that lie in some ranges, all in one step: otherwise an object
-- whose value changes in between could be left out. They are returned unparsed: parsing would take
-- Redis several times as long.
-- KEYS: 1 sorted set, 2 index set
-- ARGV: 1 version of the index set, "*" when the sorted set is not an index, 2 maximum number of
-- members, then two bounds of each range, as of ZRANGE BYLEX
-- Returns: {done, members of the first range, of the second …} | {stale_index_set} | {more}: there
-- are more than that
local code = { done = 0, stale_index_set = 1, more = 6 }
local set, index_set = KEYS[1], KEYS[2]
local version, max_members = ARGV[1], tonumber(ARGV[2])
local first_range = 3

-- include index-version

if version ~= "*" and not is_current(index_set, version) then
  return { code.stale_index_set }
end
local found = { code.done }
local left = max_members
for at = first_range, #ARGV, 2 do
  local members = redis.call("ZRANGE", set, ARGV[at], ARGV[at + 1], "BYLEX", "LIMIT", 0, left + 1)
  left = left - #members
  if left < 0 then
    return { code.more }
  end
  found[#found + 1] = members
end
return found
