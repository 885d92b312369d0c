-- Purpose: replaces the index set that its writer saw by a new one, and removes entries that are no
-- longer kept.
-- KEYS: 1 index set, 2 ids, then the sorted sets whose entries are no longer kept
-- ARGV: 1 version that the writer saw, 2 new version, 3 revision, 4 next free index number, 5
-- fields while the collection is empty, 6 fields otherwise, 7 where building continues when it
-- isn't: a member of ids, "" = at the start, "-" = nothing to build, 8 "1" when owners' entries are
-- kept, 9 where adding or removing them continues, as in 7
-- Returns: {done, fields, "1" when owners' entries are being added or removed} | {stale_index_set}
local code = { done = 0, stale_index_set = 1 }
local index_set, ids = KEYS[1], KEYS[2]
local version, new_version, revision, next_index_number = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local fields_if_empty, fields_if_not, cursor = ARGV[5], ARGV[6], ARGV[7]
local owners, owners_cursor = ARGV[8], ARGV[9]
local first_dropped = 3

-- include index-version

if not is_current(index_set, version) then
  return { code.stale_index_set }
end
local is_empty = redis.call("ZCARD", ids) == 0
local fields = is_empty and fields_if_empty or fields_if_not
redis.call("HSET", index_set, "version", new_version, "revision", revision, "next", next_index_number, "fields", fields)
redis.call("HSET", index_set, "owners", owners)
for field, position in pairs({ cursor = cursor, owners_cursor = owners_cursor }) do
  if is_empty or position == "-" then
    redis.call("HDEL", index_set, field)
  else
    redis.call("HSET", index_set, field, position)
  end
end
for at = first_dropped, #KEYS do
  redis.call("UNLINK", KEYS[at])
end
return { code.done, fields, not is_empty and owners_cursor ~= "-" and "1" or "0" }
