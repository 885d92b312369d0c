-- Purpose: a page of a sorted set's members by rank, with the texts of the objects they name, and how many members there are.
-- KEYS: 1 sorted set, 2 index set; the objects' keys are derived: which they are, only the set knows, and they share its slot
-- ARGV: 1 version of the index set, "*" when the sorted set is not an index, 2 what every member of the page begins with ("" = all),
--       3 the first text after those, 4 prefix of the objects' keys, 5 which part of a member the id is: "first" or "last",
--       6 offset, 7 limit, 8 "1" for descending, 9 maximum number of bytes
-- Returns: {done, count, texts, ids of the page that are still to be read} | {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local set, index_set = KEYS[1], KEYS[2]
local version, from, to, prefix = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local offset, limit, descending = tonumber(ARGV[6]), tonumber(ARGV[7]), ARGV[8] == "1"
local budget = tonumber(ARGV[9])

-- include index-version
-- include read-texts
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
  return { code.done, count, {}, {} }
end
local length = math.min(limit, count - offset)
local start = descending and base + count - offset - length or base + offset
local members = redis.call("ZRANGE", set, start, start + length - 1)
local id_of = ARGV[5] == "first" and first_part or last_part
local ids, keys = {}, {}
for at = 1, #members do
  local index = descending and #members + 1 - at or at
  local id = id_of(members[at])
  ids[index] = id
  keys[index] = prefix .. id
end
local texts, done = read_texts(keys, budget, set)
local rest = {}
for at = done + 1, #ids do
  rest[#rest + 1] = ids[at]
end
return { code.done, count, texts, rest }
