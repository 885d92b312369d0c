-- Purpose: follows path segments from a document's root, where a segment of digits is a key under
-- an object and an index under an array. Segments contain no quote, backslash, control character or
-- space at an end: others never get here.
local function is_index(segment)
  return segment == "0" or string.match(segment, "^[1-9]%d*$") ~= nil
end

-- The type at a path: nil without a document, "" when nothing is there.
local function kind_at(document, path)
  local kinds = redis.call("JSON.TYPE", document, path)
  if not kinds then
    return nil
  end
  return kinds[1] or ""
end

local function key_under(path, segment)
  return path .. '["' .. segment .. '"]'
end

local function element_under(path, index)
  return path .. "[" .. index .. "]"
end

-- The path of the value under ARGV[first] … ARGV[last], or nil when it leads past the end of any
-- array.
local function path_of(document, first, last)
  local path = "$"
  for at = first, last do
    local segment = ARGV[at]
    if is_index(segment) and kind_at(document, path) == "array" then
      -- Redis JSON reads an index of more digits as an error.
      if #segment > 9 then
        return nil
      end
      path = element_under(path, segment)
    else
      path = key_under(path, segment)
    end
  end
  return path
end
