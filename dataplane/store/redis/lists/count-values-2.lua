-- Purpose: how many members of a sorted set have each value, from one value to the next, without
-- reading what has the same one. A value is all of a member but its id.
-- KEYS: 1 sorted set, 2 index set
-- ARGV: 1 version of the index set, 2 maximum number of values, then two bounds of each range, as
-- of ZRANGE BYLEX: between values
-- Returns: {done, first value, number of its members, second value …} | {stale_index_set} | {more}:
-- there are more values than that
local code = { done = 0, stale_index_set = 1, more = 6 }
local set, index_set = KEYS[1], KEYS[2]
local version, max_values = ARGV[1], tonumber(ARGV[2])
local first_range = 3

-- include index-version
-- include member-id

if not is_current(index_set, version) then
  return { code.stale_index_set }
end
local found = { code.done }
for at = first_range, #ARGV, 2 do
  local from, to = ARGV[at], ARGV[at + 1]
  local member = redis.call("ZRANGE", set, from, to, "BYLEX", "LIMIT", 0, 1)[1]
  while member do
    if #found > 2 * max_values then
      return { code.more }
    end
    local value = string.sub(member, 1, -2 - #last_part(member))
    local behind = value .. "\1"
    found[#found + 1] = value
    found[#found + 1] = redis.call("ZLEXCOUNT", set, "[" .. member, "(" .. behind)
    member = redis.call("ZRANGE", set, "[" .. behind, to, "BYLEX", "LIMIT", 0, 1)[1]
  end
end
return found
