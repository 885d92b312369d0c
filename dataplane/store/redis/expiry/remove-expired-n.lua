-- Purpose: removes objects that have expired, with their index entries, while their stored texts
-- are still those that were read.
-- KEYS: 1 index set, 2 ids, 3 log, 4 index of expiry, then the sorted sets of the other indexes,
-- then two per object: the object, its owner's ids
-- ARGV: 1 version of the index set, 2 declared log (includes/change-log.lua), 3 number of sorted
-- sets, then per object: id, owner, SHA-1 of its text ("" = there was none), its value in the index
-- of expiry, and what its member begins with in each of the sets ("" = it has none)
-- Returns: {done, number of those that were removed} | {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local index_set, ids, log, index = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local version, declared, sets = ARGV[1], ARGV[2], tonumber(ARGV[3])
local first_set, first_object, first_argument = 5, 5 + sets, 4
local arguments = 4 + sets
local objects = (#ARGV - first_argument + 1) / arguments

-- include change-log
-- include collection-state
-- include store-time
-- include encoded-time

if not is_current(index_set, version) then
  return { code.stale_index_set }
end

-- Members of each sorted set that loses some, by its place in KEYS: one ZREM takes them all out.
local gone = {}
local function take(at, member)
  gone[at] = gone[at] or {}
  table.insert(gone[at], member)
end

local now = encoded_time()
local removed, changes, place_of_owned = {}, {}, {}
for object = 0, objects - 1 do
  local at, object_at = first_argument + arguments * object, first_object + 2 * object
  local id, owner, hash, time = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local text = redis.call("JSON.GET", KEYS[object_at])
  -- The clock of a Redis that was promoted meanwhile may be behind.
  local is_same = time <= now and (text and redis.sha1hex(text) or "") == hash
  if is_same then
    take(4, time .. "\0" .. id)
  end
  if is_same and text then
    removed[#removed + 1] = KEYS[object_at]
    changes[#changes + 1] = { "kind", "delete", "id", id, "owner", owner }
    add_bytes(index_set, id, -#text)
    take(2, id .. "\0" .. owner)
    local owned = KEYS[object_at + 1]
    place_of_owned[owned] = place_of_owned[owned] or object_at + 1
    take(place_of_owned[owned], id)
    for set = 0, sets - 1 do
      local value = ARGV[at + 4 + set]
      if value ~= "" then
        take(first_set + set, value .. "\0" .. id)
      end
    end
  end
end
for at, members in pairs(gone) do
  redis.call("ZREM", KEYS[at], unpack(members))
end
if removed[1] then
  redis.call("UNLINK", unpack(removed))
  log_collection_changes(index_set, log, declared, changes)
end
return { code.done, #removed }
