-- Purpose: removes one project's configuration, while the caller is still the writer and nothing was published meanwhile.
-- KEYS: 1 meta, 2 projects, 3 the project's fields, 4 its credentials, 5 changes
-- ARGV: 1 epoch, 2 revision published last, 3 new revision, 4 project's name, 5 most entries of the stream
-- Returns: {published} | {not_the_writer} | {overtaken, revision}
local code = { published = 0, not_the_writer = 1, overtaken = 2 }
local meta, projects, changes = KEYS[1], KEYS[2], KEYS[5]
local epoch, last, revision, name, most = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

if redis.call("HGET", meta, "epoch") ~= epoch then
  return { code.not_the_writer }
end
local published = redis.call("HGET", meta, "revision") or "0"
if published ~= last then
  return { code.overtaken, published }
end

redis.call("HDEL", projects, name)
redis.call("UNLINK", KEYS[3], KEYS[4])
redis.call("HSET", meta, "revision", revision)
redis.call("XADD", changes, "MAXLEN", "~", most, "*", "revision", revision, "project", name, "removed", "1")
return { code.published }
