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
    "+get +set +del +unlink +expire +pexpire +hget +hmget +hgetall +hkeys +hexists +hset +hdel +hincrby",
    "+zadd +zrem +zcard +zscore +zrange +zrangebyscore +zremrangebyscore +zlexcount +xadd +xread +xrevrange",
    "+eval +evalsha +ping +time +info +select +client|setname +cluster|slots +cluster|info",
  ],
  "jsonplane-admin": ["~* &* +@all"],
};

/** The third one is for people: backups, a look inside. No program of ours uses it. */
export type RedisUser = "jsonplane-operator" | "jsonplane-dataplane" | "jsonplane-admin";

export const redisUsers = Object.keys(programRules) as readonly RedisUser[];

/** The default user can be asked whether the server is up, by probes, and can do nothing else. */
const defaultUser = "user default on nopass sanitize-payload resetkeys resetchannels -@all +ping";

/** The text of an ACL file; passwords stand in it as SHA-256. */
export function aclFile(passwords: Readonly<Record<RedisUser, string>>): string {
  const lines = redisUsers.map((user) =>
    ["user", user, "on", `#${sha256(passwords[user])}`, ...programRules[user]].join(" "),
  );
  return `${[defaultUser, ...lines].join("\n")}\n`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
