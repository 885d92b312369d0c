// What comes before each script on valkey-json, run by a real server on replies as valkey-json
// gives them.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const bench = useScriptBench();
const prelude = readFileSync(
  new URL("../../../dataplane/store/redis/includes/valkey-json.lua", import.meta.url),
  "utf8",
);
/** In place of the server's own commands: each answers with what is stored under its name. */
const valkeyJson = `
local server, replies = redis, { ["JSON.TYPE"] = cjson.decode(ARGV[1]), ["JSON.GET"] = ARGV[2], GET = ARGV[2] }
local redis = setmetatable({ call = function(name) return replies[name] or nil end }, { __index = server })
`;

async function seen(types: unknown, text: string): Promise<readonly unknown[]> {
  const body = `
    local types = redis.call("JSON.TYPE", "key", "$")
    return { types and cjson.encode(types) or "none", redis.call("JSON.GET", "key"), redis.call("GET", "key"), redis.sha1hex("") }
  `;
  const lua = `${valkeyJson}${prelude}${body}`;
  return (await bench.client.call("EVAL", lua, "0", JSON.stringify(types), text)) as readonly unknown[];
}

it("types are texts, and a key that isn't there has none", async () => {
  const sha1OfNothing = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
  expect(await seen([{ ok: "object" }, { ok: "array" }], "1")).toEqual(['["object","array"]', "1", "1", sha1OfNothing]);
  expect((await seen([], "1"))[0]).toBe("{}");
  expect((await seen(false, "1"))[0]).toBe("none");
});

it("escapes of a JSON text are in small letters, and what only looks like one stays", async () => {
  const text = String.raw`{"\u001F":"\\u001F\\\u000B\\\\u001F\n","é":"u001F"}`;
  const asRedisJson = String.raw`{"\u001f":"\\u001F\\\u000b\\\\u001F\n","é":"u001F"}`;
  expect((await seen([], text)).slice(1, 3)).toEqual([asRedisJson, text]);
});
