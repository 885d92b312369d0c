// Makes the ACL file of the manifests in deploy/ha: the users of jsonplane with the
// rights of this version, and those of Redis' own replication and Sentinels.

import { otherUsers, programRules } from "../operator/redis-users/redis-users.ts";

/** As https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/ lists them. */
const redisItself = [
  "user replica on >REPLICA_PASSWORD +psync +replconf +ping",
  "user sentinel on >SENTINEL_PASSWORD allchannels +multi +slaveof +ping +exec +subscribe +config|rewrite +role +publish +info +client|setname +client|kill +script|kill",
];

/** Each password is a word such as OPERATOR_PASSWORD, which deploy/ha/secrets.sh replaces. */
export function redisAclFile(): string {
  const programs = Object.entries(programRules).map(([user, rules]) => {
    const [, name = ""] = user.split("-");
    return `user ${user} on >${name.toUpperCase()}_PASSWORD ${rules.join(" ")}`;
  });
  return `${[...otherUsers, ...programs, ...redisItself].join("\n")}\n`;
}
