-- Purpose: comes before every script on valkey-json, and gives it the replies of RedisJSON: types
-- as texts, and `\u001f` where valkey-json writes `\u001F`.
local redis = (function(server)
  local function as_texts(types)
    for at = 1, types and #types or 0 do
      types[at] = types[at].ok
    end
    return types
  end

  -- After an even number of backslashes, `u00` is text of a string.
  local function as_escape(backslashes, digits)
    return #backslashes % 2 == 1 and backslashes .. "u00" .. string.lower(digits) or nil
  end

  local function as_written_elsewhere(text)
    if not text or not string.find(text, "\\u00", 1, true) then
      return text
    end
    return (string.gsub(text, "(\\+)u00(%x%x)", as_escape))
  end

  local function call(name, ...)
    local reply = server.call(name, ...)
    if name == "JSON.GET" then
      return as_written_elsewhere(reply)
    elseif name == "JSON.TYPE" then
      return as_texts(reply)
    end
    return reply
  end

  return setmetatable({ call = call }, { __index = server })
end)(redis)
