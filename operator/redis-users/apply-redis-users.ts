// Applies the users of Redis to a running server, which reads its ACL file only when it starts: an upgrade that needs other rights has them at once.

import { connect } from "../../core/redis/connect.ts";
import { parseRedisUrl } from "../../core/redis/redis-url.ts";
import { aclCommands } from "./acl.ts";
import type { RedisUsers } from "./redis-secret.ts";

const commandTimeoutMs = 5_000;

/** Throws StoreUnavailable while the server is away. */
export async function applyRedisUsers({ adminUrl, passwords }: RedisUsers): Promise<void> {
  const target = parseRedisUrl(adminUrl);
  const client = await connect({ target, name: "jsonplane-operator-admin", commandTimeout: commandTimeoutMs });
  try {
    for (const words of aclCommands(passwords)) await client.call("ACL", "SETUSER", ...words);
  } finally {
    client.disconnect();
  }
}
