-- Purpose: checks whether a write finds at a path what it expects: "" = anything, "-" = nothing,
-- "!" = never met, else the SHA-1 of the value's text. Without a path nothing is there.
local function is_expected(expected, document, path)
  if expected == "" then
    return true
  end
  local found = path and redis.call("JSON.GET", document, path) or "[]"
  if found == "[]" then
    return expected == "-"
  end
  return redis.sha1hex(string.sub(found, 2, -2)) == expected
end
