-- Purpose: ends the script unless the caller is still the writer. Wants: code, meta, epoch.
if redis.call("HGET", meta, "epoch") ~= epoch then
  return { code.not_the_writer }
end
