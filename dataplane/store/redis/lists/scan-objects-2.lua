-- Purpose: the next objects in order of creation after one of a sorted set of ids.
-- KEYS: 1 sorted set, 2 index set; the objects' keys are derived: only the set knows them, and they
-- share its slot
-- ARGV: 1 prefix of the objects' keys, 2 id to continue after ("" = from the start), 3 maximum
-- number of members, 4 maximum number of bytes, 5 version of the index set, "*" when the sorted set
-- has all ids, 6 owner whose objects are read of those, "" = all
-- Returns: {done, the text of each, nil where it is gone, id to continue after ("" = at the end)} |
-- {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local set, index_set = KEYS[1], KEYS[2]
local prefix, after, max_objects = ARGV[1], ARGV[2], tonumber(ARGV[3])
local budget, version, owner = tonumber(ARGV[4]), ARGV[5], ARGV[6]

-- include read-texts
-- include member-id
-- include index-version

if version ~= "*" and not is_current(index_set, version) then
  return { code.stale_index_set }
end
-- Before all that follows the id: in a member, at most NUL does.
local start = after == "" and "-" or "(" .. after .. "\1"
local members = redis.call("ZRANGE", set, start, "+", "BYLEX", "LIMIT", 0, max_objects)
local ids, keys = {}, {}
for at = 1, #members do
  local id = first_part(members[at])
  if owner == "" or string.sub(members[at], #id + 2) == owner then
    ids[#ids + 1] = id
    keys[#keys + 1] = prefix .. id
  end
end
local texts = #keys > 0 and read_texts(keys, budget, set) or {}
local done = #texts
if done < #ids then
  return { code.done, texts, ids[done] }
end
return { code.done, texts, #members < max_objects and "" or first_part(members[#members]) }
