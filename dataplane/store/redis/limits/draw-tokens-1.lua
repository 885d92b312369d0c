-- Purpose: takes tokens out of a bucket that fills at a steady rate up to its size, by Redis' own
-- time.
-- KEYS: 1 bucket
-- ARGV: 1 tokens per second, 2 size of the bucket, 3 maximum number of tokens to take
-- Returns: {done, tokens taken, whole tokens left, milliseconds until there is one}
local code = { done = 0 }
-- include store-time
local bucket = KEYS[1]
local per_second, size, wanted = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now = store_time()
local full_after = size / per_second * 1000
-- Milliseconds by which the bucket may have been filled ahead of now: clocks of two servers before
-- and after a failover differ by less.
local max_ahead = math.min(full_after, 1000)

local state = redis.call("HMGET", bucket, "tokens", "at")
local tokens, at = tonumber(state[1] or size), tonumber(state[2] or now)
-- The clock was put back: nobody is to wait until it is there again.
if at - now > max_ahead then
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
