-- Purpose: the ids of a page of those members of a sorted set that lie in one of several ranges,
-- and how many members the ranges hold.
-- KEYS: 1 sorted set, 2 index set
-- ARGV: 1 version of the index set, "*" when the sorted set is not an index, 2 which part of a
-- member the id is: "first" or "last", 3 offset, 4 limit, 5 "1" for descending, 6 number of ranges
-- to count, then two bounds of each of those, then two bounds of each range of the page: bounds as
-- of ZRANGE BYLEX, ranges in the page's order
-- Returns: {done, count, ids, last member of the page when there are more, else ""} |
-- {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local set, index_set = KEYS[1], KEYS[2]
local version = ARGV[1]
local offset, limit, descending = tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5] == "1"
local counted = tonumber(ARGV[6])
local first_counted = 7
local first_range = first_counted + 2 * counted

-- include index-version
-- include member-id

if version ~= "*" and not is_current(index_set, version) then
  return { code.stale_index_set }
end
local count = 0
for at = first_counted, first_range - 1, 2 do
  count = count + redis.call("ZLEXCOUNT", set, ARGV[at], ARGV[at + 1])
end

-- One member more than the page has says whether there are more.
local wanted = limit + 1
local members = {}
for at = first_range, #ARGV, 2 do
  local from, to = ARGV[at], ARGV[at + 1]
  local held = offset > 0 and redis.call("ZLEXCOUNT", set, from, to) or 0
  if offset > 0 and offset >= held then
    offset = offset - held
  elseif #members < wanted then
    local room = wanted - #members
    local found
    if offset > 0 then
      -- By rank, so that a large offset costs no more than a small one.
      local base = from == "-" and 0 or redis.call("ZLEXCOUNT", set, "-", (from:sub(1, 1) == "[" and "(" or "[") .. from:sub(2))
      local length = math.min(room, held - offset)
      local start = descending and base + held - offset - length or base + offset
      found = redis.call("ZRANGE", set, start, start + length - 1)
      if descending then
        for left = 1, math.floor(#found / 2) do
          found[left], found[#found + 1 - left] = found[#found + 1 - left], found[left]
        end
      end
      offset = 0
    elseif descending then
      found = redis.call("ZRANGE", set, to, from, "BYLEX", "REV", "LIMIT", 0, room)
    else
      found = redis.call("ZRANGE", set, from, to, "BYLEX", "LIMIT", 0, room)
    end
    for each = 1, #found do
      members[#members + 1] = found[each]
    end
  end
end

local id_of = ARGV[2] == "first" and first_part or last_part
local length = math.min(limit, #members)
local ids = {}
for at = 1, length do
  ids[at] = id_of(members[at])
end
return { code.done, count, ids, #members > limit and members[length] or "" }
