// The users of a Redis that belongs to a fleet, as an ACL file: each program's rights, and no more. docs/reference/redis.md lists the
// same, kept equal by a test.

import { createHash } from "node:crypto";

/** Rules of `ACL SETUSER`, without name, state and password. */
export const programRules: Readonly<Record<RedisUser, readonly string[]>> = {
  "jsonplane-operator": [
    "~{jsonplane}:meta ~{jsonplane}:projects ~{jsonplane}:project:* ~{jsonplane}:credentials:*",
    "~{jsonplane}:changes ~{jsonplane}:data ~{jsonplane}:purges ~{jsonplane}:purged",
    "%R~{jsonplane}:replicas %R~{jsonplane}:ack:*",
    "+hget +hmget +hgetall +hscan +hkeys +hexists +hset +hsetnx +hdel +unlink +xadd +zrangebyscore +time",
    "+eval +evalsha +ping +info +select +client|setname +cluster|slots +cluster|info",
  ],
  "jsonplane-dataplane": [
    "~jp:* ~{jsonplane}:revocations ~{jsonplane}:revocations:live",
    "%R~{jsonplane}:meta %R~{jsonplane}:projects %R~{jsonplane}:project:* %R~{jsonplane}:credentials:*",
    "%R~{jsonplane}:changes %R~{jsonplane}:purges",
    "~{jsonplane}:purged ~{jsonplane}:purge-lock ~{jsonplane}:replicas ~{jsonplane}:ack:*",
    "+json.get +json.mget +json.set +json.del +json.type +json.objlen +json.arrlen +json.arrinsert +json.arrpop",
    "+get +set +del +unlink +exists +expire +pexpire +hget +hmget +hgetall +hkeys +hexists +hset +hdel +hincrby",
    "+zadd +zrem +zcard +zscore +zrange +zrangebyscore +zremrangebyscore +zlexcount +xadd +xread +xrevrange",
    "+eval +evalsha +ping +time +info +select +client|setname +cluster|slots +cluster|info",
  ],
  "jsonplane-admin": ["~* &* +@all"],
};

/** The third one is for people: backups, a look inside. No program of ours uses it. */
export type RedisUser = "jsonplane-operator" | "jsonplane-dataplane" | "jsonplane-admin";

const redisUsers = Object.keys(programRules) as readonly RedisUser[];

/**
 * Nobody can be the default user, and it keeps every right: Redis reads its append-only file with that user's rights, and leaves
 * out what they don't cover. Probes have a user of their own, which can ask whether the server is up, and nothing else.
 */
const others = [
  "user default off sanitize-payload resetpass ~* &* +@all",
  "user jsonplane-probe on nopass resetkeys resetchannels -@all +ping",
];

export type RedisPasswords = Readonly<Record<RedisUser, string>>;

/** The text of an ACL file; passwords stand in it as SHA-256. */
export function aclFile(passwords: RedisPasswords): string {
  return `${aclLines(passwords).join("\n")}\n`;
}

/** Arguments of `ACL SETUSER` that make each user what the file says, whatever it was. */
export function aclCommands(passwords: RedisPasswords): readonly (readonly string[])[] {
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
  return [...others, ...programs];
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
