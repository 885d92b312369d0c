-- Purpose: names what a collection has now, for its purge. The purge's last step removes the name
-- with the index set: data stored after that have another name.
-- KEYS: 1 index set, 2 ids
-- ARGV: 1 name to give, if there is none yet
-- Returns: {done, name} | {not_found}: the collection is empty
local code = { done = 0, not_found = 4 }
local index_set, ids = KEYS[1], KEYS[2]
local name = ARGV[1]

if redis.call("EXISTS", index_set, ids) == 0 then
  return { code.not_found }
end
local given = redis.call("HGET", index_set, "id")
if not given then
  redis.call("HSET", index_set, "id", name)
end
return { code.done, given or name }
