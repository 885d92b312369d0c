-- Purpose: writes changed fields of one project, its revision, what is known of its stored data,
--   and the hint, while the caller is still the writer and nothing was published since it sealed
--   them.
-- KEYS: 1 meta, 2 projects, 3 the project's fields, 4 its credentials, 5 changes, 6 data
-- ARGV: 1 epoch, 2 revision published last, 3 new revision, 4 project's name, 5 its entry in
--   projects, 6 most entries of the stream, 7 names of changed fields as JSON, 8 its data inventory
--   ("=" as it is, "" none), 9 number of values, then per value: 3 or 4 for its key, field, value;
--   then per removed field: 3 or 4, field
-- Returns: {published} | {not_the_writer} | {overtaken, revision}
local code = { published = 0, not_the_writer = 1, overtaken = 2 }
local meta, projects, changes, data = KEYS[1], KEYS[2], KEYS[5], KEYS[6]
local epoch, last, revision, name, entry = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local most, fields, inventory, values = ARGV[6], ARGV[7], ARGV[8], tonumber(ARGV[9])

-- include still-the-writer
-- include nothing-since
local at = 10
for _ = 1, values do
  redis.call("HSET", KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2])
  at = at + 3
end
while at <= #ARGV do
  redis.call("HDEL", KEYS[tonumber(ARGV[at])], ARGV[at + 1])
  at = at + 2
end
-- include put-inventory
redis.call("HSET", projects, name, entry)
redis.call("HSET", meta, "revision", revision)
redis.call(
  "XADD", changes, "MAXLEN", "~", most, "*",
  "revision", revision, "after", last, "project", name, "fields", fields
)
return { code.published }
