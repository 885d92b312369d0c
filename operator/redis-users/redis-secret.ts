// The Secret with the users of a Redis that comes with the installation: made once, in the operator's own namespace. Redis mounts its
// ACL file, the data plane takes its URL from it. Passwords stay; rights are what this version of the programs needs. Refuses with
// RedisSecretUnusable what it can't use, and never writes over it.

import type { JsonObject } from "../../core/config/types.ts";
import { connect } from "../../core/redis/connect.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import { mintPassword, type Random } from "../resolve/mint.ts";
import { aclCommands, aclFile, type RedisPasswords, type RedisUser } from "./acl.ts";

/** Entries of the Secret. */
export const redisEntries = {
  /** For the operator: a store URL with its user. */
  operatorUrl: "operator-url",
  /** For the data plane. */
  dataplaneUrl: "dataplane-url",
  /** What Redis loads as its `aclfile`. */
  acl: "users.acl",
  /** The password of the user jsonplane-admin, for people. */
  adminPassword: "admin-password",
} as const;

export interface RedisSecretDeps {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly secret: ObjectName;
  /** The store URL of the server, without a user. */
  readonly address: string;
  readonly random: Random;
}

/** The Secret is there and can't be used; `message` says what to do and holds nothing of it. */
export class RedisSecretUnusable extends Error {
  override readonly name = "RedisSecretUnusable";
}

export interface RedisUsers {
  /** The operator's own. */
  readonly url: string;
  readonly adminUrl: string;
  readonly passwords: RedisPasswords;
}

/** As the Secret says, which then holds the rights of this version. */
export async function ensureRedisUsers(deps: RedisSecretDeps): Promise<RedisUsers> {
  const { api, address } = deps;
  const secret = await ensured(deps);
  const passwords = passwordsOf(secret);
  const acl = aclFile(passwords);
  if (entryOf(secret, redisEntries.acl) !== acl) {
    const data = { ...(secret["data"] as JsonObject), [redisEntries.acl]: encoded(acl) };
    await api.replace(secretType, { ...(secret as unknown as JsonObject), apiVersion: "v1", kind: "Secret", data });
  }
  return {
    url: withUser(address, "jsonplane-operator", passwords),
    adminUrl: withUser(address, "jsonplane-admin", passwords),
    passwords,
  };
}

/** The operator's URL as the Secret says, for commands that make none; undefined when there is no such Secret. */
export async function operatorRedisUrl(api: Pick<KubeApi, "get">, name: ObjectName): Promise<string | undefined> {
  const secret = await api.get(secretType, name);
  return secret && entryOf(secret, redisEntries.operatorUrl);
}

async function ensured(deps: RedisSecretDeps): Promise<KubeObject> {
  const { api, secret } = deps;
  const found = await api.get(secretType, secret);
  if (found !== undefined) return found;
  try {
    return await api.create(secretType, newSecret(deps));
  } catch (error) {
    if (!isConflict(error)) throw error;
    const made = await api.get(secretType, secret);
    if (made === undefined) throw error;
    return made;
  }
}

function passwordsOf(secret: KubeObject): RedisPasswords {
  return {
    "jsonplane-operator": passwordIn(secret, redisEntries.operatorUrl),
    "jsonplane-dataplane": passwordIn(secret, redisEntries.dataplaneUrl),
    "jsonplane-admin": entryOf(secret, redisEntries.adminPassword),
  };
}

function passwordIn(secret: KubeObject, entry: string): string {
  const { password } = parseRedisUrl(entryOf(secret, entry)).credentials;
  if (password === undefined) throw unusable(secret, `names no password in its entry "${entry}"`);
  return password;
}

function entryOf(secret: KubeObject, entry: string): string {
  const encodedText = (secret["data"] as Readonly<Record<string, string>> | undefined)?.[entry];
  if (encodedText === undefined) throw unusable(secret, `has no entry "${entry}"`);
  return Buffer.from(encodedText, "base64").toString("utf8");
}

function unusable({ metadata: { namespace, name } }: KubeObject, what: string): RedisSecretUnusable {
  return new RedisSecretUnusable(
    `Secret ${namespace}/${name} ${what}. Restore it from a backup, or delete the Secret and restart operator, Redis and data plane: new users are made`,
  );
}

function newSecret({ secret: { namespace, name }, address, random }: RedisSecretDeps): JsonObject {
  const passwords: RedisPasswords = {
    "jsonplane-operator": mintPassword(random),
    "jsonplane-dataplane": mintPassword(random),
    "jsonplane-admin": mintPassword(random),
  };
  const entries = {
    [redisEntries.operatorUrl]: withUser(address, "jsonplane-operator", passwords),
    [redisEntries.dataplaneUrl]: withUser(address, "jsonplane-dataplane", passwords),
    [redisEntries.acl]: aclFile(passwords),
    [redisEntries.adminPassword]: passwords["jsonplane-admin"],
  };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { "app.kubernetes.io/managed-by": "jsonplane" } },
    type: "Opaque",
    data: Object.fromEntries(Object.entries(entries).map(([entry, text]) => [entry, encoded(text)])),
  };
}

/** Passwords are letters and digits only: nothing is to be escaped. */
function withUser(address: string, user: RedisUser, passwords: RedisPasswords): string {
  return address.replace("://", `://${user}:${passwords[user]}@`);
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

const commandTimeoutMs = 5_000;

/**
 * Applies the users to a running server, which reads its ACL file only when it starts: an upgrade that needs other rights has them immediately. Throws
 * StoreUnavailable while the server is away.
 */
export async function applyRedisUsers({ adminUrl, passwords }: RedisUsers): Promise<void> {
  const target = parseRedisUrl(adminUrl);
  const client = await connect({ target, name: "jsonplane-operator-admin", commandTimeout: commandTimeoutMs });
  try {
    for (const words of aclCommands(passwords)) await client.call("ACL", "SETUSER", ...words);
  } finally {
    client.disconnect();
  }
}
