-- Purpose: the members of sorted sets that lie in some ranges, all in one step: otherwise an object
-- whose value changes in between could be left out. They are returned unparsed: parsing would take
-- Redis several times as long.
-- KEYS: the index set, then the sorted sets
-- ARGV: 1 version of the index set, "*" when no sorted set is an index, 2 maximum number of
-- members, then for each sorted set: number of ranges, then two bounds of each, as of ZRANGE BYLEX
-- Returns: {done, members of the first range, of the second …} | {stale_index_set} | {more}: there
-- are more than that
local code = { done = 0, stale_index_set = 1, more = 6 }
local index_set = KEYS[1]
local version, max_members = ARGV[1], tonumber(ARGV[2])
local first_set = 2

-- include index-version

if version ~= "*" and not is_current(index_set, version) then
  return { code.stale_index_set }
end
local found = { code.done }
local left = max_members
local at = 3
for key = first_set, #KEYS do
  local ranges = tonumber(ARGV[at])
  for bound = at + 1, at + 2 * ranges, 2 do
    local members = redis.call("ZRANGE", KEYS[key], ARGV[bound], ARGV[bound + 1], "BYLEX", "LIMIT", 0, left + 1)
    left = left - #members
    if left < 0 then
      return { code.more }
    end
    found[#found + 1] = members
  end
  at = at + 1 + 2 * ranges
end
return found
