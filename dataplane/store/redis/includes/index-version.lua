-- Purpose: checks whether the writer knows the indexes in force; otherwise it would leave entries
-- out. No index set at all has the version "".
local function is_current(index_set, version)
  return (redis.call("HGET", index_set, "version") or "") == version
end
