-- Purpose: the ids of a page of a sorted set's members by rank, and how many members there are.
-- KEYS: 1 sorted set, 2 index set
-- ARGV: 1 version of the index set, "*" when the sorted set is not an index, 2 what every member of
-- the page begins with ("" = all), 3 the first text after those, 4 which part of a member the id
-- is: "first" or "last", 5 offset, 6 limit, 7 "1" for descending
-- Returns: {done, count, ids} | {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local set, index_set = KEYS[1], KEYS[2]
local version, from, to = ARGV[1], ARGV[2], ARGV[3]
local offset, limit, descending = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == "1"

-- include index-version
-- include member-id

if version ~= "*" and not is_current(index_set, version) then
  return { code.stale_index_set }
end
local base, count = 0, 0
if from == "" then
  count = redis.call("ZCARD", set)
else
  count = redis.call("ZLEXCOUNT", set, "[" .. from, "(" .. to)
  if count > 0 then
    base = redis.call("ZLEXCOUNT", set, "-", "(" .. from)
  end
end
if offset >= count then
  return { code.done, count, {} }
end
local length = math.min(limit, count - offset)
local start = descending and base + count - offset - length or base + offset
local members = redis.call("ZRANGE", set, start, start + length - 1)
local id_of = ARGV[4] == "first" and first_part or last_part
local ids = {}
for at = 1, #members do
  ids[at] = id_of(members[descending and #members + 1 - at or at])
end
return { code.done, count, ids }
