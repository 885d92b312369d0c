// Reads users and keys from Redis when they are first used, and caches those it found until a
// change is announced. If Redis can't be read, the answer is `unavailable`, never `unknown`.

import { credentialsKey, keyOfProject } from "../../core/config/config-keys.ts";
import { keyField, readKey, readUser, userField } from "../../core/config/fields.ts";
import { readPublished } from "../../core/config/published-value.ts";
import { KeyNotInRing } from "../../core/config/seal.ts";
import type { KeyConfig, ProjectSettings, UserConfig } from "../../core/config/types.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import type { LiveProject, Lookup } from "./directory.ts";
import { type FollowedKeyring, openWithNewest } from "./follow-keyring.ts";

export interface Credentials {
  user(project: LiveProject, username: string): Lookup<UserConfig> | Promise<Lookup<UserConfig>>;
  key(project: LiveProject, sha256: string): Lookup<KeyConfig> | Promise<Lookup<KeyConfig>>;
  /** Drops some fields of a project, or all of them, also those that are being read. */
  forget(project: string, fields?: readonly string[]): void;
}

/** Credentials remembered by one replica; some hundred bytes each. */
const remembered = 50_000;

const unknown = Object.freeze({ outcome: "unknown" } as const);
const unavailable = Object.freeze({ outcome: "unavailable" } as const);

/** For the project with this UID; a successor of the same name has its own. */
interface Remembered {
  readonly uid: string;
  readonly value: UserConfig | KeyConfig;
}

export function createCredentials(redisClient: RedisClient, keyring: FollowedKeyring): Credentials {
  const cache = recentlyUsed<Remembered>(remembered);
  /** Entries of an older generation are out of reach, and go as the cache fills. */
  const generations = new Map<string, number>();
  /** Grows with every forgetting: what was read before one is not remembered after it. */
  let forgettings = 0;

  const cacheKey = (project: LiveProject, field: string): string => {
    const name = keyOfProject(project.config);
    return `${name} ${generations.get(name) ?? 0} ${field}`;
  };

  const read = async <T extends UserConfig | KeyConfig>(
    project: LiveProject,
    field: string,
    parse: (text: string) => T,
  ): Promise<Lookup<T>> => {
    const { config } = project;
    const began = forgettings;
    const text = await fieldText(redisClient, credentialsKey(config), field);
    if (typeof text === "object") return text;
    const found = text === undefined ? unknown : await openField(keyring, config, { field, text });
    if (found.outcome !== "found") return found;
    const value = parse(found.value);
    if (began === forgettings) cache.set(cacheKey(project, field), { uid: config.uid, value });
    return { outcome: "found", value };
  };

  const lookUp = <T extends UserConfig | KeyConfig>(
    project: LiveProject,
    field: string,
    parse: (text: string) => T,
  ) => {
    const known = cache.get(cacheKey(project, field));
    if (known?.uid !== project.config.uid) return read(project, field, parse);
    // A field's name says what it holds.
    return { outcome: "found", value: known.value as T } as const;
  };

  return {
    user: (project, username) => lookUp(project, userField(keyring.current(), username), readUser),
    key: (project, sha256) => lookUp(project, keyField(sha256), readKey),
    forget(project, fields) {
      forgettings += 1;
      const generation = generations.get(project) ?? 0;
      if (fields) for (const field of fields) cache.delete(`${project} ${generation} ${field}`);
      else generations.set(project, generation + 1);
    },
  };
}

/** The decrypted text, if it was encrypted for this project. */
async function openField(
  keyring: FollowedKeyring,
  { namespace, name, uid }: ProjectSettings,
  { field, text }: { readonly field: string; readonly text: string },
): Promise<Lookup<string>> {
  const published = readPublished(text);
  if (!published) return unknown;
  try {
    const binding = { namespace, name, field, revision: published.revision };
    const opened = await openWithNewest(keyring, binding, published.sealed);
    return opened.uid === uid ? { outcome: "found", value: opened.text } : unknown;
  } catch (error) {
    // With a key that has not reached this replica yet it may be a good one.
    return error instanceof KeyNotInRing ? unavailable : unknown;
  }
}

/** Whatever keeps Redis from answering, the caller gets 503; why, the metrics of Redis show. */
async function fieldText(
  redisClient: RedisClient,
  key: string,
  field: string,
): Promise<string | undefined | typeof unavailable> {
  try {
    return optionalText(await redisClient.read(key, "HGET", key, field));
  } catch {
    return unavailable;
  }
}
