-- Purpose: removes one project's configuration and says what remains of its stored data, while the
--   caller is still the writer and nothing was published meanwhile.
-- KEYS: 1 meta, 2 projects, 3 the project's fields, 4 its credentials, 5 changes, 6 data
-- ARGV: 1 epoch, 2 revision published last, 3 new revision, 4 project's name, 5 most entries of the
--   stream, 6 its data inventory ("=" as it is, "" none)
-- Returns: {published} | {not_the_writer} | {overtaken, revision}
local code = { published = 0, not_the_writer = 1, overtaken = 2 }
local meta, projects, changes, data = KEYS[1], KEYS[2], KEYS[5], KEYS[6]
local epoch, last, revision, name, most, inventory = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]

-- include still-the-writer
-- include nothing-since
redis.call("HDEL", projects, name)
redis.call("UNLINK", KEYS[3], KEYS[4])
-- include put-inventory
redis.call("HSET", meta, "revision", revision)
redis.call(
  "XADD", changes, "MAXLEN", "~", most, "*",
  "revision", revision, "after", last, "project", name, "removed", "1"
)
return { code.published }
