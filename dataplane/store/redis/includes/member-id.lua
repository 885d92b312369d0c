-- Purpose: takes the id out of a member of a sorted set: the text before its first NUL, or after
-- its last one. Nearly all ids are UUIDs, and checking where one must end is many times faster than
-- searching.
local function first_part(member)
  if string.byte(member, 37) == 0 then
    return string.sub(member, 1, 36)
  end
  return string.match(member, "^%Z+")
end

local function last_part(member)
  if string.byte(member, -37) == 0 then
    return string.sub(member, -36)
  end
  return string.match(member, "^.*%z(.*)$")
end
