-- Purpose: the store's time, when the next object expires, and the texts of some that have expired.
-- KEYS: 1 index set, 2 index of expiry, 3 ids; the objects' keys are derived: only the index knows
-- them, and they share its slot
-- ARGV: 1 version of the index set, 2 prefix of the objects' keys, 3 maximum number of objects, 4
-- maximum number of bytes, 5 how many to leave to others, where there are more
-- Returns: {done, time, first value of the index ("" = it is empty), then per object that has
-- expired: its value, its member of ids, its text; both "" where there is no object} |
-- {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local index_set, index, ids = KEYS[1], KEYS[2], KEYS[3]
local version, prefix, max_objects, budget = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local left = tonumber(ARGV[5])

-- include index-version
-- include store-time
-- include member-id
-- include encoded-time

if not is_current(index_set, version) then
  return { code.stale_index_set }
end
local now = encoded_time()
local first = redis.call("ZRANGE", index, 0, 0)[1]
local found = { code.done, now, first and time_of(first) or "" }
if not first or time_of(first) > now then
  return found
end
local function expired_after(others)
  return redis.call("ZRANGE", index, "-", "(" .. now .. "\1", "BYLEX", "LIMIT", others, max_objects)
end

local entries = expired_after(left)
if left > 0 and not entries[1] then
  entries = expired_after(0)
end
local bytes, largest = 0, 0
for _, entry in ipairs(entries) do
  if bytes > 0 and bytes + largest > budget then
    break
  end
  local id = last_part(entry)
  local object_key = prefix .. id
  local member = redis.call("ZRANGE", ids, "[" .. id .. "\0", "(" .. id .. "\1", "BYLEX", "LIMIT", 0, 1)[1]
  local text = member and redis.call("JSON.GET", object_key)
  if member and not text then
    -- Gone, or on another node while a Cluster moves the slot: then Redis ends the script here.
    redis.call("EXISTS", ids, object_key)
  end
  found[#found + 1] = time_of(entry)
  found[#found + 1] = member or id .. "\0"
  found[#found + 1] = text or ""
  bytes = bytes + #found[#found]
  largest = math.max(largest, #found[#found])
end
return found
