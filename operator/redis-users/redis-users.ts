// The users of a Redis that comes with the installation, with each program's rights and no more, as
// docs/reference/redis.md lists them. They stand in a Secret in the operator's own namespace: Redis
// mounts its ACL file, the data plane reads its URL from it. Passwords stay; rights are what this
// version of the programs needs. A Secret that can't be used is refused with RedisSecretUnusable,
// and never overwritten.

import { createHash } from "node:crypto";
import type { JsonObject } from "../../core/config/types.ts";
import { connect } from "../../core/redis/connect.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import type { KubeApi, KubeObject, ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/objects.ts";
import { mintPassword, type Random } from "../resolve/mint.ts";
import { ensureSecret, entriesOf, type InstallationSecret } from "../secrets/installation-secret.ts";
import { encodedEntries } from "../secrets/secret-object.ts";

/** Rules of `ACL SETUSER`, without name, state and password. */
export const programRules: Readonly<Record<RedisUser, readonly string[]>> = {
  "jsonplane-operator": [
    "~{jsonplane}:meta ~{jsonplane}:projects ~{jsonplane}:project:* ~{jsonplane}:credentials:*",
    "~{jsonplane}:changes ~{jsonplane}:data ~{jsonplane}:orders ~{jsonplane}:results",
    "%R~{jsonplane}:replicas %R~{jsonplane}:ack:* %R~{jsonplane}:backup",
    "+hget +hmget +hgetall +hscan +hkeys +hexists +hset +hsetnx +hdel +unlink +xadd +zrangebyscore +time",
    "+eval +evalsha +ping +info +select +client|setname +cluster|slots +cluster|info",
  ],
  "jsonplane-dataplane": [
    "~jp:* &jp:* ~{jsonplane}:revocations ~{jsonplane}:revocations:live",
    "%R~{jsonplane}:meta %R~{jsonplane}:projects %R~{jsonplane}:project:* %R~{jsonplane}:credentials:*",
    "%R~{jsonplane}:changes %R~{jsonplane}:orders",
    "~{jsonplane}:results ~{jsonplane}:replicas ~{jsonplane}:ack:*",
    "+json.get +json.mget +json.set +json.del +json.type +json.objlen +json.arrlen +json.arrappend +json.arrinsert +json.arrpop",
    "+get +set +del +unlink +exists +expire +pexpire +hget +hmget +hgetall +hkeys +hexists +hset +hdel +hincrby",
    "+zadd +zrem +zcard +zscore +zrange +zrangebyscore +zremrangebyscore +zlexcount",
    "+xadd +xlen +xrange +xread +xrevrange +xtrim +publish +subscribe +unsubscribe",
    "+eval +evalsha +wait +ping +time +info +select +client|setname +cluster|slots +cluster|info",
  ],
  "jsonplane-backup": [
    "~jp:{*/*/*}:* ~jp:{probe}:* %R~{jsonplane}:data %R~{jsonplane}:meta",
    "+json.get +json.mget +get +exists +hget +hmget +hgetall +hscan",
    "+zcard +zscore +zrange +zrangebyscore +zlexcount +xlen +xrange +xread +xrevrange",
    "+eval +evalsha +ping +time +info +select +client|setname +cluster|slots +cluster|info",
    "(~{jsonplane}:backup +hset)",
  ],
  "jsonplane-admin": ["~* &* +@all"],
};

/** The last one is for people: inspection, backups of Redis. No program of ours uses it. */
export type RedisUser = "jsonplane-operator" | "jsonplane-dataplane" | "jsonplane-backup" | "jsonplane-admin";

const redisUsers = Object.keys(programRules) as readonly RedisUser[];

/**
 * The default user is off, and keeps every right: Redis reads its append-only file with that user's
 * rights, and leaves out what they don't cover. Probes have a user of their own, which can ask
 * whether the server is up, and nothing else.
 */
export const otherUsers = [
  "user default off sanitize-payload resetpass ~* &* +@all",
  "user jsonplane-probe on nopass resetkeys resetchannels -@all +ping",
];

export type RedisPasswords = Readonly<Record<RedisUser, string>>;

/** The text of an ACL file; passwords stand in it as SHA-256. */
function aclFile(passwords: RedisPasswords): string {
  return `${aclLines(passwords).join("\n")}\n`;
}

/** Arguments of `ACL SETUSER` that make each user what the file says, whatever it was. */
function aclCommands(passwords: RedisPasswords): readonly (readonly string[])[] {
  return aclLines(passwords).map((line) => {
    const [, user = "", ...rules] = line.split(" ");
    // The server replays its append-only file with this one's rights: it has them at every moment.
    return user === "default" ? [user, ...rules] : [user, "reset", ...rules];
  });
}

function aclLines(passwords: RedisPasswords): readonly string[] {
  const programs = redisUsers.map((user) =>
    ["user", user, "on", `#${sha256(passwords[user])}`, ...programRules[user]].join(" "),
  );
  return [...otherUsers, ...programs];
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Entries of the Secret. */
const redisEntries = {
  /** For the operator: a store URL with its user, without TLS. */
  operatorUrl: "operator-url",
  /** For the data plane. */
  dataplaneUrl: "dataplane-url",
  /** For backups; an earlier version made none. */
  backupUrl: "backup-url",
  /**
   * The same two for a server that speaks TLS. Those above stay as they are: a rollback to one that
   * doesn't needs them.
   */
  dataplaneTlsUrl: "dataplane-tls-url",
  backupTlsUrl: "backup-tls-url",
  /** What Redis loads as its `aclfile`. */
  acl: "users.acl",
  /** The password of the user jsonplane-admin, for people. */
  adminPassword: "admin-password",
} as const;

export interface RedisSecretDeps {
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly secret: ObjectName;
  /** The store URL of the server, without a user; `rediss` where it speaks TLS. */
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
  const secret = withBackupUrl(await ensureSecret(api, deps.secret, () => newUsers(deps)), deps);
  const passwords = passwordsOf(secret);
  const due = { [redisEntries.acl]: aclFile(passwords), ...tlsUrls(address, passwords) };
  const present = secret["data"] as JsonObject;
  const data = { ...present, ...encodedEntries(due) };
  if (Object.entries(data).some(([entry, text]) => present[entry] !== text)) {
    await api.replace(secretType, { ...(secret as unknown as JsonObject), apiVersion: "v1", kind: "Secret", data });
  }
  return {
    url: withUser(address, "jsonplane-operator", passwords["jsonplane-operator"]),
    adminUrl: withUser(address, "jsonplane-admin", passwords["jsonplane-admin"]),
    passwords,
  };
}

/**
 * `address` with the operator's user as the Secret says, for commands that make none; undefined
 * when there is no such Secret.
 */
export async function operatorRedisUrl(
  api: Pick<KubeApi, "get">,
  name: ObjectName,
  address: string,
): Promise<string | undefined> {
  const secret = await api.get(secretType, name);
  return secret && withUser(address, "jsonplane-operator", passwordIn(secret, redisEntries.operatorUrl));
}

/** Its new password also changes the ACL file, which has the Secret written. */
function withBackupUrl(secret: KubeObject, { address, random }: RedisSecretDeps): KubeObject {
  const data = secret["data"] as JsonObject | undefined;
  if (data === undefined || redisEntries.backupUrl in data) return secret;
  const url = withUser(plain(address), "jsonplane-backup", mintPassword(random));
  return { ...secret, data: { ...data, ...encodedEntries({ [redisEntries.backupUrl]: url }) } };
}

function passwordsOf(secret: KubeObject): RedisPasswords {
  return {
    "jsonplane-operator": passwordIn(secret, redisEntries.operatorUrl),
    "jsonplane-dataplane": passwordIn(secret, redisEntries.dataplaneUrl),
    "jsonplane-backup": passwordIn(secret, redisEntries.backupUrl),
    "jsonplane-admin": entryOf(secret, redisEntries.adminPassword),
  };
}

function passwordIn(secret: KubeObject, entry: string): string {
  const { password } = parseRedisUrl(entryOf(secret, entry)).credentials;
  if (password === undefined) throw unusable(secret, `names no password in its entry "${entry}"`);
  return password;
}

function entryOf(secret: KubeObject, entry: string): string {
  const text = entriesOf(secret)[entry];
  if (text === undefined) throw unusable(secret, `has no entry "${entry}"`);
  return text;
}

function unusable({ metadata: { namespace, name } }: KubeObject, what: string): RedisSecretUnusable {
  return new RedisSecretUnusable(
    `Secret ${namespace}/${name} ${what}. Restore it from a backup, or delete the Secret and restart operator, Redis and data plane: new users are made`,
  );
}

function newUsers({ address: given, random }: RedisSecretDeps): InstallationSecret {
  const address = plain(given);
  const passwords: RedisPasswords = {
    "jsonplane-operator": mintPassword(random),
    "jsonplane-dataplane": mintPassword(random),
    "jsonplane-backup": mintPassword(random),
    "jsonplane-admin": mintPassword(random),
  };
  const entries = {
    [redisEntries.operatorUrl]: withUser(address, "jsonplane-operator", passwords["jsonplane-operator"]),
    [redisEntries.dataplaneUrl]: withUser(address, "jsonplane-dataplane", passwords["jsonplane-dataplane"]),
    [redisEntries.backupUrl]: withUser(address, "jsonplane-backup", passwords["jsonplane-backup"]),
    [redisEntries.acl]: aclFile(passwords),
    [redisEntries.adminPassword]: passwords["jsonplane-admin"],
  };
  return { type: "Opaque", entries };
}

function tlsUrls(address: string, passwords: RedisPasswords): Readonly<Record<string, string>> {
  if (address === plain(address)) return {};
  return {
    [redisEntries.dataplaneTlsUrl]: withUser(address, "jsonplane-dataplane", passwords["jsonplane-dataplane"]),
    [redisEntries.backupTlsUrl]: withUser(address, "jsonplane-backup", passwords["jsonplane-backup"]),
  };
}

function plain(address: string): string {
  return address.replace(/^rediss/, "redis");
}

/** Passwords are letters and digits only: nothing is to be escaped. */
function withUser(address: string, user: RedisUser, password: string): string {
  return address.replace("://", `://${user}:${password}@`);
}

const commandTimeoutMs = 5_000;

/**
 * Applies the users to a running server, which reads its ACL file only when it starts: an upgrade
 * has the rights that it needs immediately. Throws StoreUnavailable while the server is away.
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
