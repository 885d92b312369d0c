-- Purpose: reads the texts of objects, in order, as long as one more of the largest size so far
-- would stay within `budget` bytes. Returns the text of each key that was read, false where it is
-- gone; at least one. One by one: the size of an object is unknown before it is read, and ten may
-- be ten mebibytes. For small ones it costs a twelfth more than reading them together. `beside` = a
-- key of theirs that exists, for objects whose keys are derived: while a Cluster moves their slot,
-- some may be on another node. Redis sees all keys of EXISTS, and ends the script there.
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
