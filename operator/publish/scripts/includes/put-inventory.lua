-- Purpose: writes what is known of a project's stored data: "=" leaves it as it is, "" removes it.
--   Wants: data, name, inventory.
if inventory == "" then
  redis.call("HDEL", data, name)
elseif inventory ~= "=" then
  redis.call("HSET", data, name, inventory)
end
