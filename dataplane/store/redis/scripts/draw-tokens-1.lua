-- Purpose: takes tokens out of a bucket that fills at a steady rate up to its size.
-- KEYS: 1 bucket
-- ARGV: 1 now in Unix milliseconds, 2 tokens per second, 3 size of the bucket, 4 most tokens to take
-- Returns: {done, tokens taken, whole tokens left, milliseconds until there is one}
local code = { done = 0 }
local bucket = KEYS[1]
local now, per_second, size, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local full_after = size / per_second * 1000

local state = redis.call("HMGET", bucket, "tokens", "at")
local tokens, at = tonumber(state[1] or size), tonumber(state[2] or now)
-- Written by a clock that was far ahead: nobody is to wait until this one is there.
if at - now > full_after then
  at = now
end
if now > at then
  tokens = tokens + (now - at) * per_second / 1000
  at = now
end
tokens = math.min(size, tokens)

local taken = math.min(wanted, math.floor(tokens))
tokens = tokens - taken
redis.call("HSET", bucket, "tokens", string.format("%.6f", tokens), "at", string.format("%d", at))
redis.call("PEXPIRE", bucket, math.ceil(full_after) + 1000)
local wait = tokens >= 1 and 0 or math.ceil((1 - tokens) / per_second * 1000)
return { code.done, taken, math.floor(tokens), wait }
