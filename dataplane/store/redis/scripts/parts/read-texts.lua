-- Purpose: reads the texts of documents, in order, until the next one would make more than `budget` bytes; documents that
-- are gone are left out. Returns the texts and how many keys were done with. At least one key is.
-- `batch` documents at once at first, and then as many as seem to fit: what is read too much was read for nothing.
-- `beside` = a key of theirs that is there, for documents whose keys are derived: while a Cluster moves their slot, some may be
-- on another node. Redis sees only the first key of JSON.MGET, and all of EXISTS, where it then ends the script.
local function read_texts(keys, budget, batch, beside)
  local texts, bytes, done = {}, 0, 0
  while done < #keys do
    local asked = math.min(batch, #keys - done)
    local names = { unpack(keys, done + 1, done + asked) }
    names[asked + 1] = "."
    local found = redis.call("JSON.MGET", unpack(names))
    local largest = 0
    for at = 1, asked do
      local text = found[at]
      if beside and not text then
        redis.call("EXISTS", beside, keys[done + 1])
      end
      if text then
        bytes = bytes + #text
        if bytes > budget and #texts > 0 then
          return texts, done
        end
        texts[#texts + 1] = text
        largest = math.max(largest, #text)
      end
      done = done + 1
    end
    batch = math.max(1, math.min(50, math.floor(65536 / (largest + 1))))
  end
  return texts, done
end
