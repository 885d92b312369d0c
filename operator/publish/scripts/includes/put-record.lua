-- Purpose: writes what is known of a project's stored data: "=" leaves it as it is, "" removes it.
--   Wants: data, name, record.
if record == "" then
  redis.call("HDEL", data, name)
elseif record ~= "=" then
  redis.call("HSET", data, name, record)
end
