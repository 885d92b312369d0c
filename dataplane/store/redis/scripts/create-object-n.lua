-- Purpose: stores a new object and its index entries.
-- KEYS: 1 index set, 2 ids, 3 the owner's ids, 4 object, then two per index: index, own index
-- ARGV: 1 version of the index set, 2 maximum number of objects, 3 id, 4 owner, 5 text, then one per index: encoded value
-- Returns: {done} | {stale_index_set} | {quota_exceeded} | {conflict}: the id is taken
local code = { done = 0, stale_index_set = 1, quota_exceeded = 2, conflict = 3 }
local index_set, ids, owned, object_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local version, max_objects, id, owner, text = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local first_index, first_value = 5, 6

-- include collection-state

if not is_current(index_set, version) then
  return { code.stale_index_set }
end
if redis.call("ZCARD", ids) >= max_objects then
  return { code.quota_exceeded }
end
if not redis.call("JSON.SET", object_key, "$", text, "NX") then
  return { code.conflict }
end
add_bytes(index_set, id, #text)
redis.call("ZADD", ids, 0, id .. "\0" .. owner)
redis.call("ZADD", owned, 0, id)
for at = first_value, #ARGV do
  local entry = ARGV[at] .. "\0" .. id
  local key = first_index + 2 * (at - first_value)
  redis.call("ZADD", KEYS[key], 0, entry)
  redis.call("ZADD", KEYS[key + 1], 0, owner .. "\0" .. entry)
end
return { code.done }
