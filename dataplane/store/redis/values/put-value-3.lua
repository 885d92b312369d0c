-- Purpose: replaces a value, or adds a missing last key of an object.
-- KEYS: 1 document, 2 its size, 3 log
-- ARGV: 1 text, 2 maximum bytes of the document, 3 "1" when a key may be added, 4 what is expected
-- there (includes/expected-value.lua), 5 maximum bytes by which the document may grow ("" = any), 6
-- fewest members or elements of an entire value that is replaced, 7 declared log
-- (includes/change-log.lua), then the path's segments: none = the entire value
-- Returns: {replaced, bytes by which it grew} | {created, bytes by which it grew} |
-- {missing_document} | {parent_not_found} | {not_a_container} | {invalid_index} | {index_not_found,
-- length} | {create_refused} | {conflict}: not what is expected, or fewer members |
-- {document_too_large} | {quota_exceeded}: it may not grow so much
local code = {
  quota_exceeded = 2,
  conflict = 3,
  missing_document = 10,
  parent_not_found = 11,
  not_a_container = 12,
  invalid_index = 13,
  index_not_found = 15,
  create_refused = 17,
  document_too_large = 18,
  created = 19,
  replaced = 20,
}
local document, size, log = KEYS[1], KEYS[2], KEYS[3]
local text, max_bytes, may_create, expected = ARGV[1], tonumber(ARGV[2]), ARGV[3] == "1", ARGV[4]
local max_growth, min_members = tonumber(ARGV[5]), tonumber(ARGV[6])
local declared = ARGV[7]
local first, last = 8, #ARGV

-- include change-log
-- include document-size
-- include document-path
-- include document-parent
-- include expected-value
-- include document-members

local function put(path, old_size, growth, outcome)
  if not is_expected(expected, document, path) then
    return { code.conflict }
  end
  if old_size + growth > max_bytes then
    return { code.document_too_large }
  end
  if max_growth and growth > max_growth then
    return { code.quota_exceeded }
  end
  redis.call("JSON.SET", document, path, text)
  set_size(size, old_size + growth, log, declared)
  return { outcome, growth }
end

if last < first then
  if not kind_at(document, "$") then
    return { code.missing_document }
  end
  if min_members > 0 and members_of(document) < min_members then
    return { code.conflict }
  end
  -- What was there before counts only where somebody asks how much is added.
  local old_size = max_growth and size_of(document, size) or 0
  return put("$", old_size, #text - old_size, code.replaced)
end
local path, kind = parent_of(document, first, last)
if not path then
  return { kind }
end
local segment = ARGV[last]
local target
if kind == "object" then
  target = key_under(path, segment)
  if kind_at(document, target) == "" then
    if not may_create then
      return { code.create_refused }
    end
    local comma = redis.call("JSON.OBJLEN", document, path)[1] > 0 and 1 or 0
    return put(target, size_of(document, size), name_size(segment) + #text + comma, code.created)
  end
else
  if not is_index(segment) then
    return { code.invalid_index }
  end
  local length = redis.call("JSON.ARRLEN", document, path)[1]
  if tonumber(segment) >= length then
    return { code.index_not_found, length }
  end
  target = element_under(path, segment)
end
return put(target, size_of(document, size), #text - value_size(document, target), code.replaced)
