-- Purpose: in one command, whether the writer knows the indexes in force (index-version.lua has the
-- same for readers), and how far the bytes of the collection's texts are counted; updates their
-- sum.
local counted_to
local function is_current(index_set, version)
  local state = redis.call("HMGET", index_set, "version", "counted_to")
  counted_to = state[2]
  return (state[1] or "") == version
end

-- Order of bytes; Lua's own comparison goes by the server's locale.
local function is_up_to(id, other)
  for at = 1, math.min(#id, #other) do
    local mine, its = string.byte(id, at), string.byte(other, at)
    if mine ~= its then
      return mine < its
    end
  end
  return #id <= #other
end

-- "*" = all objects are counted, else those up to this id; the others will be, with the text that
-- they have then.
local function add_bytes(index_set, id, change)
  if counted_to and change ~= 0 and (counted_to == "*" or is_up_to(id, counted_to)) then
    redis.call("HINCRBY", index_set, "bytes", change)
  end
end
