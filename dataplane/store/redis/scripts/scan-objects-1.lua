-- Purpose: the next objects in order of creation after a member of a sorted set of ids.
-- KEYS: 1 sorted set; the objects' keys are derived: which they are, only the set knows, and they share its slot
-- ARGV: 1 prefix of the objects' keys, 2 member to go on after ("" = from the start), 3 maximum number of members,
--       4 maximum number of bytes
-- Returns: {done, the text of each, nil where it is gone, member to go on after ("" = at the end)}
local code = { done = 0 }
local set = KEYS[1]
local prefix, after, max_objects = ARGV[1], ARGV[2], tonumber(ARGV[3])
local budget = tonumber(ARGV[4])

-- include read-texts
-- include member-id

local start = after == "" and "-" or "(" .. after
local members = redis.call("ZRANGE", set, start, "+", "BYLEX", "LIMIT", 0, max_objects)
local keys = {}
for at = 1, #members do
  keys[at] = prefix .. first_part(members[at])
end
local texts = read_texts(keys, budget, set)
local done = #texts
local is_last = done == #members and #members < max_objects
return { code.done, texts, is_last and "" or members[done] }
