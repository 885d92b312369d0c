-- Purpose: adds a new key to an object, or inserts into an array at an index up to its length ("-"
-- = the end).
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 text, 2 maximum bytes of the document, 3 what is expected there
-- (includes/expected-value.lua), 4 maximum bytes by which it may grow ("" = any), 5 declared log
-- (includes/change-log.lua), then the path's segments, at least one
-- Returns: {created, bytes by which it grew} | {missing_document} | {parent_not_found} |
-- {not_a_container} | {invalid_index} | {key_exists} | {index_out_of_range, length} | {conflict}:
-- not what is expected | {document_too_large} | {quota_exceeded}: it may not grow so much
local code = {
  quota_exceeded = 2,
  conflict = 3,
  missing_document = 10,
  parent_not_found = 11,
  not_a_container = 12,
  invalid_index = 13,
  index_out_of_range = 14,
  key_exists = 16,
  document_too_large = 18,
  created = 19,
}
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local text, max_bytes, expected, max_growth = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local declared = ARGV[5]
local first, last = 6, #ARGV

-- include change-log
-- include document-size
-- include document-path
-- include document-parent
-- include expected-value

local segment = ARGV[last]

-- Appends without reading the parent first: JSON.ARRAPPEND itself says whether it is an array, and
-- its length. Returns nil where the checks below have to decide, as near a limit.
local function append()
  local before, with_comma = bytes_in(redis.call("GET", size)), #text + 1
  if not before or before + with_comma > max_bytes or (max_growth and with_comma > max_growth) then
    return nil
  end
  local path = path_of(document, first, last - 1)
  local lengths = path and redis.pcall("JSON.ARRAPPEND", document, path, text)
  local length = lengths and lengths[1]
  if not length then
    return nil
  end
  local growth = length > 1 and with_comma or #text
  set_size(size, before + growth, log, declared)
  return { code.created, growth }
end

local appended = segment == "-" and expected == "" and append()
if appended then
  return appended
end

local path, kind = parent_of(document, first, last)
if not path then
  return { kind }
end
local length, index, added
if kind == "object" then
  if not is_expected(expected, document, key_under(path, segment)) then
    return { code.conflict }
  end
  if kind_at(document, key_under(path, segment)) ~= "" then
    return { code.key_exists }
  end
  length = redis.call("JSON.OBJLEN", document, path)[1]
  added = name_size(segment) + #text
else
  length = redis.call("JSON.ARRLEN", document, path)[1]
  if segment == "-" then
    index = length
  elseif not is_index(segment) then
    return { code.invalid_index }
  elseif tonumber(segment) > length then
    return { code.index_out_of_range, length }
  else
    index = segment
  end
  if not is_expected(expected, document, segment ~= "-" and element_under(path, segment) or nil) then
    return { code.conflict }
  end
  added = #text
end
local growth = added + (length > 0 and 1 or 0)
local new_size = size_of(document, size) + growth
if new_size > max_bytes then
  return { code.document_too_large }
end
if max_growth and growth > max_growth then
  return { code.quota_exceeded }
end
if index then
  redis.call("JSON.ARRINSERT", document, path, index, text)
else
  redis.call("JSON.SET", document, key_under(path, segment), text)
end
set_size(size, new_size, log, declared)
return { code.created, growth }
