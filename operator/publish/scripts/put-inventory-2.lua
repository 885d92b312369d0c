-- Purpose: writes what is known of one project's stored data, if the caller is still the writer.
-- KEYS: 1 meta, 2 data
-- ARGV: 1 epoch, 2 project's name, 3 inventory ("" none)
-- Returns: {published} | {not_the_writer}
local code = { published = 0, not_the_writer = 1 }
local meta, data = KEYS[1], KEYS[2]
local epoch, name, inventory = ARGV[1], ARGV[2], ARGV[3]

-- include still-the-writer
-- include put-inventory
return { code.published }
