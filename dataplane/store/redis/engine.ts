// What a store runs on, and all that its JSON module does differently from RedisJSON, which
// everything else is written for. The server itself says what it is: HELLO needs no rights, and
// nothing that is stored has a part in it.

import { readFileSync } from "node:fs";
import { isForbidden, RedisFault } from "../../../core/redis/failure.ts";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { listOf, textOf } from "../../../core/redis/reply.ts";
import { type Script, scriptOf } from "../../../core/redis/script.ts";
import type { StoreEngine } from "../port.ts";
import type { Path } from "../ports/refs.ts";

interface JsonModule {
  readonly name: string;
  /** The segments that `["…"]` in a path can't contain. */
  readonly unaddressable: RegExp;
  /** Where replies differ. */
  readonly differences?: Differences;
}

interface Differences {
  /** The script that sees RedisJSON's replies. */
  readonly script: (script: Script) => Script;
  /** What RedisJSON would answer in place of this text. */
  readonly text: (text: string) => string;
}

/**
 * Measured with RedisJSON 2.8: `["…"]` can't contain a quote or a backslash, escaped or not, and
 * drops a space at its start. Control characters and a space at the end work there; they are left
 * out because no document says that they do.
 */
const redisJson: JsonModule = {
  name: "RedisJSON",
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  unaddressable: /["\\\u0000-\u001f\u007f]|^ | $/,
};

/** Whole ones, so that a backslash of text is not taken for the beginning of the next. */
const escapes = /\\(?:u00[0-9A-F]{2}|.)/g;

/**
 * Measured with valkey-json 1.0: a write takes `/` and `~` in a new key for a JSON Pointer's, and
 * answers OK. Numbers stay as they were sent, and they are sent as RedisJSON would write them.
 */
const valkeyJson: JsonModule = {
  name: "valkey-json",
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  unaddressable: /["\\/~\u0000-\u001f\u007f]|^ | $/,
  differences: {
    script: withPrelude(readFileSync(new URL("includes/valkey-json.lua", import.meta.url), "utf8")),
    text: (text) =>
      text.includes("\\u00")
        ? text.replace(escapes, (found) => (found[1] === "u" ? found.toLowerCase() : found))
        : text,
  },
};

/** Those that tests passed on, by major and minor version; docs/reference/redis.md lists them. */
export const testedEngines: readonly string[] = [
  "Redis 7.0, RedisJSON 2.8",
  "Valkey 8.1, RedisJSON 2.8",
  "Valkey 8.1, valkey-json 1.0",
];

const modulesByName: Readonly<Record<string, JsonModule>> = { ReJSON: redisJson, json: valkeyJson };
const serversByName: Readonly<Record<string, string>> = { redis: "Redis", valkey: "Valkey" };

export interface ConnectedEngine {
  /** Undefined while nothing was asked, or where the server doesn't answer HELLO. */
  readonly found: () => StoreEngine | undefined;
  /** How many segments from the start a path can name; all of them for most paths. */
  readonly addressableLength: (path: Path) => number;
  /** Asks the server. Call it for each new connection. Rejects with StoreUnavailable. */
  identify(read: RedisClient["read"]): Promise<void>;
  /** A client that gives RedisJSON's replies, whatever the engine. */
  adapt(redisClient: RedisClient): RedisClient;
}

/** Until it is identified, it is taken for RedisJSON. */
export function createConnectedEngine(): ConnectedEngine {
  let json = redisJson;
  let found: StoreEngine | undefined;
  return {
    found: () => found,
    addressableLength(path) {
      const first = path.findIndex((segment) => json.unaddressable.test(segment));
      return first < 0 ? path.length : first;
    },
    async identify(read) {
      const facts = await helloFacts(read);
      json = jsonModuleOf(facts);
      found = facts && engineOf(facts, json);
    },
    adapt: (redisClient) => ({
      ...redisClient,
      run: (script, keys, args) => redisClient.run(json.differences?.script(script) ?? script, keys, args),
      read: (key, name, ...args) => asRedisJson(json, name, redisClient.read(key, name, ...args)),
      readMany: (keys, name, ...args) => asRedisJson(json, name, redisClient.readMany(keys, name, ...args)),
    }),
  };
}

function asRedisJson({ differences }: JsonModule, command: string, reply: Promise<unknown>): Promise<unknown> {
  if (differences === undefined || (command !== "JSON.GET" && command !== "JSON.MGET")) return reply;
  const { text } = differences;
  const asText = (found: unknown): unknown => (typeof found === "string" ? text(found) : found);
  return reply.then((found) => (Array.isArray(found) ? found.map(asText) : asText(found)));
}

/** Puts it before what a script does, and behind the line of its flags, if there is one. */
function withPrelude(prelude: string): (script: Script) => Script {
  const known = new WeakMap<Script, Script>();
  return (script) => {
    const { name, lua, kind } = script;
    const begin = lua.startsWith("#!") ? lua.indexOf("\n") + 1 : 0;
    const own = known.get(script) ?? scriptOf(name, lua.slice(0, begin) + prelude + lua.slice(begin), kind);
    known.set(script, own);
    return own;
  };
}

interface HelloFacts {
  readonly server: string;
  readonly version: string;
  readonly modules: ReadonlyMap<string, number>;
}

/** Any key: only its slot counts, in a Cluster. */
const key = "jp:{probe}:json";

/** Undefined where something between refuses the command. */
async function helloFacts(read: RedisClient["read"]): Promise<HelloFacts | undefined> {
  try {
    const facts = pairsOf(await read(key, "HELLO"));
    const modules = listOf(facts.get("modules")).map(pairsOf);
    return {
      server: textOf(facts.get("server")),
      version: textOf(facts.get("version")),
      modules: new Map(modules.map((module) => [textOf(module.get("name")), Number(module.get("ver"))])),
    };
  } catch (error) {
    if (error instanceof RedisFault || isForbidden(error)) return undefined;
    throw error;
  }
}

function pairsOf(reply: unknown): ReadonlyMap<unknown, unknown> {
  const words = listOf(reply);
  return new Map(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]] as const] : [])));
}

/** A server that keeps its modules to itself has the one that belongs to it. */
function jsonModuleOf(facts: HelloFacts | undefined): JsonModule {
  const name = Object.keys(modulesByName).find((each) => facts?.modules.has(each));
  if (name !== undefined) return modulesByName[name] ?? redisJson;
  return facts?.server === "valkey" ? valkeyJson : redisJson;
}

function engineOf({ server, version, modules }: HelloFacts, json: JsonModule): StoreEngine {
  const [, number] = [...modules].find(([name]) => modulesByName[name] === json) ?? [];
  const engine = { name: serversByName[server] ?? server, version, json: json.name, jsonVersion: versionOf(number) };
  return { ...engine, tested: testedEngines.includes(combinationOf(engine)) };
}

/** Modules number versions in one integer: 20803 is 2.8.3. */
function versionOf(number = 0): string {
  return [Math.floor(number / 10_000), Math.floor(number / 100) % 100, number % 100].join(".");
}

function combinationOf({ name, version, json, jsonVersion }: Omit<StoreEngine, "tested">): string {
  const minor = (text: string): string => text.split(".", 2).join(".");
  return `${name} ${minor(version)}, ${json} ${minor(jsonVersion)}`;
}
