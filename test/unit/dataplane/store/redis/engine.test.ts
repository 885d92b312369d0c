// What a server says of itself decides how its JSON module is spoken to.

import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../../../../core/errors/store-errors.ts";
import { RedisFault } from "../../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../../core/redis/redis-client.ts";
import { runsWithoutMemory, type Script, scriptOf } from "../../../../../core/redis/script.ts";
import { createConnectedEngine } from "../../../../../dataplane/store/redis/engine.ts";

type Modules = readonly (readonly [name: string, version: number])[];

const hello = (server: string, version: string, modules: Modules) => [
  ...["server", server, "version", version, "proto", 2, "id", 7, "mode", "standalone", "role", "master", "modules"],
  modules.map(([name, ver]) => ["name", name, "ver", ver, "path", `/${name}.so`, "args", []]),
];
const redis7 = hello("redis", "7.0.15", [["ReJSON", 20_803]]);
const valkey = hello("valkey", "8.1.6", [
  ["search", 10_002],
  ["json", 10_002],
]);

async function connectedTo(reply: unknown) {
  const engine = createConnectedEngine();
  await engine.identify(async () => reply);
  return engine;
}

describe("a server", () => {
  it.each([
    [redis7, { name: "Redis", version: "7.0.15", json: "RedisJSON", jsonVersion: "2.8.3", tested: true }],
    [valkey, { name: "Valkey", version: "8.1.6", json: "valkey-json", jsonVersion: "1.0.2", tested: true }],
    [
      hello("valkey", "8.1.8", [["ReJSON", 20_803]]),
      { name: "Valkey", version: "8.1.8", json: "RedisJSON", jsonVersion: "2.8.3", tested: true },
    ],
    [
      hello("redis", "7.4.1", [["ReJSON", 20_803]]),
      { name: "Redis", version: "7.4.1", json: "RedisJSON", jsonVersion: "2.8.3", tested: false },
    ],
    [
      hello("valkey", "8.1.8", []),
      { name: "Valkey", version: "8.1.8", json: "valkey-json", jsonVersion: "0.0.0", tested: false },
    ],
  ])("is known by what it answers to HELLO: case %#", async (reply, expected) => {
    expect((await connectedTo(reply)).found()).toEqual(expected);
  });

  it("that refuses HELLO is taken for Redis, and one that is away is not identified", async () => {
    const engine = await connectedTo(valkey);
    await engine.identify(() => Promise.reject(new RedisFault("unknown command", { code: "ERR" })));
    expect([engine.found(), engine.addressableLength(["a/b"])]).toEqual([undefined, 1]);
    await expect(engine.identify(() => Promise.reject(new StoreUnavailable("away")))).rejects.toThrow("away");
  });
});

it("a path can be named up to the first segment that its module's paths can't contain", async () => {
  for (const reply of [redis7, valkey]) {
    const { addressableLength } = await connectedTo(reply);
    expect(addressableLength(["a", "b c", "é", "'"])).toBe(4);
    for (const unaddressable of ['"', 'a"b', "\\", " a", " ", "a ", "\u0000", "a\nb", "\u001f", "\u007f"]) {
      expect([unaddressable, addressableLength(["a", unaddressable, "b"])]).toEqual([unaddressable, 1]);
    }
  }
  const lengths = [redis7, valkey].map(async (reply) =>
    (await connectedTo(reply)).addressableLength(["a", "b/~", "c"]),
  );
  expect(await Promise.all(lengths)).toEqual([3, 1]);
});

describe("a client", () => {
  const stored = String.raw`["\u001F\\u001F\\\u000B","\n"]`;
  const asked = async (reply: unknown, command: string, answer: unknown) => {
    const ran: Script[] = [];
    const client = { read: async () => answer, run: async (script: Script) => ran.push(script) };
    const { read, run } = (await connectedTo(reply)).adapt(client as unknown as RedisClient);
    const script = runsWithoutMemory(scriptOf("freeing", "return 1", "write"));
    await run(script, [], []);
    await run(script, [], []);
    return { found: await read("key", command, "key"), ran, script };
  };

  it("of valkey-json reads escapes as RedisJSON writes them, and no other text", async () => {
    const read = String.raw`["\u001f\\u001F\\\u000b","\n"]`;
    expect((await asked(valkey, "JSON.GET", stored)).found).toBe(read);
    expect((await asked(valkey, "JSON.MGET", [stored, null])).found).toEqual([read, null]);
    expect((await asked(valkey, "GET", stored)).found).toBe(stored);
    expect((await asked(redis7, "JSON.GET", stored)).found).toBe(stored);
  });

  it("of valkey-json begins a script with what translates replies, and any other sends it as it is", async () => {
    const { ran, script } = await asked(valkey, "JSON.GET", stored);
    expect(ran[0]?.lua).toMatch(/^#!lua flags=allow-oom\n-- Purpose: [\s\S]*\nreturn 1$/);
    expect([ran[1], ran[0]?.sha === script.sha]).toEqual([ran[0], false]);
    expect((await asked(redis7, "JSON.GET", stored)).ran).toEqual([script, script]);
  });
});
