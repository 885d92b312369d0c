-- Purpose: times as the index of expiry has them (encodedTime in store/expiry.ts): fifteen digits
-- of Unix milliseconds, which compare as texts. store-time.lua is included before.
local function encoded_time()
  return string.format("%015.0f", store_time())
end

-- Of an entry.
local function time_of(entry)
  return string.sub(entry, 1, 15)
end
