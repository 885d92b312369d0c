-- Purpose: takes or renews the builder's lock and reads the next objects without entries in a
-- building index, or then those whose owners' entries are to be added or removed.
-- KEYS: 1 index set, 2 lock, 3 ids; the objects' keys are derived: only the ids know them, and they
-- share its slot
-- ARGV: 1 builder's token, 2 milliseconds that the lock lasts, 3 prefix of the objects' keys, 4
-- maximum number of objects, 5 maximum number of bytes, 6 encoding of the builder's indexes
-- Returns: {done}: nothing is building | {busy}: another builder has the lock, or needs it because
-- an index has another encoding | {more, version, fields, members, texts, "1" when
-- these are the last ones, "1" when owners' entries are kept, "indexes" or "owners": whose entries
-- are next}; texts[n] is "" when members[n] has no object, or needs none
local code = { done = 0, busy = 5, more = 6 }
local index_set, lock, ids = KEYS[1], KEYS[2], KEYS[3]
local token, duration, prefix, max_objects, budget = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local encoding = tonumber(ARGV[6])

-- include member-id

local state = redis.call("HMGET", index_set, "version", "fields", "cursor", "owners", "owners_cursor")
local version, fields, keeps_owners = state[1], state[2], state[4] ~= "0"
local walk = state[3] and "indexes" or "owners"
local cursor = state[3] or state[5]
if not cursor then
  return { code.done }
end
for _, index in ipairs(cjson.decode(fields)) do
  if index.encoding ~= encoding then
    return { code.busy }
  end
end
local holder = redis.call("GET", lock)
if holder and holder ~= token then
  return { code.busy }
end
redis.call("SET", lock, token, "PX", duration)
local members = redis.call("ZRANGE", ids, cursor == "" and "-" or "(" .. cursor, "+", "BYLEX", "LIMIT", 0, max_objects)
local read, texts, bytes = {}, {}, 0
for at = 1, #members do
  local object_key = prefix .. first_part(members[at])
  local is_removing = walk == "owners" and not keeps_owners
  local text = is_removing and "" or redis.call("JSON.GET", object_key)
  if not text then
    -- Gone, or on another node while a Cluster moves the slot: then Redis ends the script here.
    redis.call("EXISTS", ids, object_key)
    text = ""
  end
  if bytes + #text > budget and at > 1 then
    return { code.more, version, fields, read, texts, "0", keeps_owners and "1" or "0", walk }
  end
  read[at], texts[at] = members[at], text
  bytes = bytes + #text
end
return { code.more, version, fields, read, texts, #members < max_objects and "1" or "0", keeps_owners and "1" or "0", walk }
