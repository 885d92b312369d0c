-- Purpose: removes a key of an object, or an element of an array.
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 what is expected there (includes/expected-value.lua), 2 declared log
-- (includes/change-log.lua), then the path's segments, at least one
-- Returns: {done} | {missing_document} | {not_found} | {invalid_index} | {conflict}: not what is
-- expected
local code = {
  done = 0,
  conflict = 3,
  not_found = 4,
  missing_document = 10,
  parent_not_found = 11,
  not_a_container = 12,
  invalid_index = 13,
}
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local expected, declared = ARGV[1], ARGV[2]
local first, last = 3, #ARGV

-- include change-log
-- include document-size
-- include document-path
-- include document-parent
-- include expected-value

local path, kind = parent_of(document, first, last)
if not path then
  return { kind == code.missing_document and kind or code.not_found }
end
local segment = ARGV[last]
local old_size = size_of(document, size)
local length, gone
if kind == "object" then
  local target = key_under(path, segment)
  if kind_at(document, target) == "" then
    return { code.not_found }
  end
  if not is_expected(expected, document, target) then
    return { code.conflict }
  end
  length = redis.call("JSON.OBJLEN", document, path)[1]
  gone = name_size(segment) + value_size(document, target)
  redis.call("JSON.DEL", document, target)
else
  if not is_index(segment) then
    return { code.invalid_index }
  end
  length = redis.call("JSON.ARRLEN", document, path)[1]
  if tonumber(segment) >= length then
    return { code.not_found }
  end
  if not is_expected(expected, document, element_under(path, segment)) then
    return { code.conflict }
  end
  gone = #redis.call("JSON.ARRPOP", document, path, segment)[1]
end
set_size(size, old_size - gone - (length > 1 and 1 or 0), log, declared)
return { code.done }
