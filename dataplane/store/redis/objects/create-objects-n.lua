-- Purpose: stores new objects of one collection and their index entries, each as if it came alone,
-- in the order given.
-- KEYS: 1 index set, 2 ids, 3 log, then the sorted sets of the indexes, those of unique rules last,
-- then per object: object, and its owner's ids where owners' entries are kept
-- ARGV: 1 version of the index set, 2 maximum number of objects, 3 "1" when owners' entries are
-- kept, 4 number of sorted sets, 5 of those of unique rules, 6 declared log
-- (includes/change-log.lua), then per object: id, owner, text, and what its member begins with in
-- each of the sets ("" = it has none)
-- Returns: one code per object: done, quota_exceeded, conflict: the id is taken, failed: Redis or a
-- unique rule refused it, among others; only a script for this object alone says why |
-- {not_unique, number of the rule}: of an object alone | {stale_index_set}: nothing was stored
local code = { done = 0, stale_index_set = 1, quota_exceeded = 2, conflict = 3, failed = 8, not_unique = 9 }
local index_set, ids, log = KEYS[1], KEYS[2], KEYS[3]
local version, max_objects, keeps_owners, sets = ARGV[1], tonumber(ARGV[2]), ARGV[3] == "1", tonumber(ARGV[4])
local rules, declared = tonumber(ARGV[5]), ARGV[6]
local width = keeps_owners and 2 or 1
local first_set, first_object, first_argument = 4, 4 + sets, 7
local arguments = 3 + sets
local objects = (#ARGV - first_argument + 1) / arguments

-- include change-log
-- include collection-state
-- include taken-value

if not is_current(index_set, version) then
  return { code.stale_index_set }
end

-- Scores and members of each sorted set that gets some, by its place in KEYS: one ZADD adds them
-- all.
local added = {}
local function add(at, member)
  local list = added[at]
  if not list then
    list = {}
    added[at] = list
  end
  list[#list + 1] = 0
  list[#list + 1] = member
end

local function set_object(key, text)
  if objects == 1 then
    return redis.call("JSON.SET", key, "$", text, "NX")
  end
  return redis.pcall("JSON.SET", key, "$", text, "NX")
end

-- By number of the rule: values of objects before, which the sorted sets don't have yet.
local taken = {}
for rule = 1, rules do
  taken[rule] = {}
end

-- The number of the first rule that stands against the object whose sets' values begin here.
local function broken_rule(first_value)
  for rule = 1, rules do
    local set = sets - rules + rule - 1
    local value = ARGV[first_value + set]
    if value ~= "" and (taken[rule][value] or is_taken(KEYS[first_set + set], value)) then
      return rule
    end
  end
end

local room = max_objects - redis.call("ZCARD", ids)
local codes = {}
local changes = {}
local place_of_owned = {}
for object = 1, objects do
  local at = first_argument + (object - 1) * arguments
  local object_at = first_object + width * (object - 1)
  local id, owner, text = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local broken = broken_rule(at + 3)
  local result = room > 0 and not broken and set_object(KEYS[object_at], text)
  if room <= 0 then
    codes[object] = code.quota_exceeded
  elseif broken and objects == 1 then
    return { code.not_unique, broken }
  elseif broken then
    codes[object] = code.failed
  elseif not result then
    codes[object] = code.conflict
  elseif result.err then
    codes[object] = code.failed
  else
    codes[object] = code.done
    room = room - 1
    changes[#changes + 1] = { "kind", "put", "id", id, "owner", owner }
    add_bytes(index_set, id, #text)
    add(2, id .. "\0" .. owner)
    if keeps_owners then
      local owned = KEYS[object_at + 1]
      place_of_owned[owned] = place_of_owned[owned] or object_at + 1
      add(place_of_owned[owned], id)
    end
    for set = 0, sets - 1 do
      local value = ARGV[at + 3 + set]
      if value ~= "" then
        add(first_set + set, value .. "\0" .. id)
      end
    end
    for rule = 1, rules do
      taken[rule][ARGV[at + 2 + sets - rules + rule]] = true
    end
  end
end
for at, members in pairs(added) do
  redis.call("ZADD", KEYS[at], unpack(members))
end
if changes[1] then
  log_collection_changes(index_set, log, declared, changes)
end
return codes
