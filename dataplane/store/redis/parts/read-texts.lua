-- Purpose: reads the texts of objects, in order, for as long as another one as large as the largest so far would make no more than
-- `budget` bytes. Returns the text of each key that was done with, false where it is gone. At least one key is.
-- One by one: nobody knows the size of an object that was not read, and of ten that are read at once each may be a mebibyte. Of
-- small ones it costs a twelfth more than reading them together.
-- `beside` = a key of theirs that is there, for objects whose keys are derived: while a Cluster moves their slot, some may be
-- on another node. Redis sees all keys of EXISTS, where it then ends the script.
local function read_texts(keys, budget, beside)
  local texts, bytes, largest, done = {}, 0, 0, 0
  while done < #keys and (done == 0 or bytes + largest <= budget) do
    done = done + 1
    local text = redis.call("JSON.GET", keys[done])
    texts[done] = text
    if text then
      bytes = bytes + #text
      largest = math.max(largest, #text)
    elseif beside then
      redis.call("EXISTS", beside, keys[done])
    end
  end
  return texts
end
