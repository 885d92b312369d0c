-- Purpose: finds the container that a write at ARGV[first] … ARGV[last] changes, and the size of
-- its whole document. Returns its path and kind, or nil and the code of the refusal.
local function parent_of(document, first, last)
  local path = path_of(document, first, last - 1)
  local kind = path and kind_at(document, path)
  if kind == "object" or kind == "array" then
    return path, kind
  end
  if not kind_at(document, "$") then
    return nil, code.missing_document
  end
  -- What the path ran into decides: a scalar, or nothing.
  local deepest = "$"
  for at = first, last - 1 do
    local here = kind_at(document, deepest)
    if here == "" then
      return nil, code.parent_not_found
    elseif here == "array" and (not is_index(ARGV[at]) or #ARGV[at] > 9) then
      return nil, code.parent_not_found
    elseif here == "array" then
      deepest = element_under(deepest, ARGV[at])
    elseif here == "object" then
      deepest = key_under(deepest, ARGV[at])
    else
      return nil, code.not_a_container
    end
  end
  return nil, kind_at(document, deepest) == "" and code.parent_not_found or code.not_a_container
end

-- Bytes of the document's text. The text itself is read only when its size was lost.
local function size_of(document, size)
  return bytes_in(redis.call("GET", size)) or #redis.call("JSON.GET", document)
end

-- Bytes of the text of one value; Redis JSON puts it into brackets.
local function value_size(document, path)
  return #redis.call("JSON.GET", document, path) - 2
end

-- Bytes that a member's name takes: two quotes and the colon.
local function name_size(name)
  return #name + 3
end
