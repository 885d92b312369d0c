// What a failure to write configuration to Redis means for the objects that wait for it.

import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import { RedisFault, replyCode } from "../../core/redis/failure.ts";
import { FleetRingUnusable } from "../keyring/ring-secret.ts";
import type { UnpublishedReason } from "../model/reasons.ts";
import { InventoryUnreadable, NotTheWriter, RedisRefused } from "../publish/refusals.ts";
import { RedisSecretUnusable } from "../redis-users/redis-users.ts";

export interface WhyUnpublished {
  readonly reason: UnpublishedReason;
  /**
   * A sentence or two for the condition: without times, counters and names of the operator's own
   * Secrets.
   */
  readonly message: string;
}

const temporary = [
  StoreUnavailable,
  OutcomeUnknown,
  RedisFault,
  NotTheWriter,
  InventoryUnreadable,
  RedisSecretUnusable,
];

/** What a server means that answers and refuses to write, by the first word of its answer. */
const refusals: ReadonlyMap<string, string> = new Map(
  Object.entries({
    CLUSTERDOWN: "a part of the Redis Cluster has no primary",
    LOADING: "it is still loading its data",
    MISCONF: "it can't save its data; look at its log and at the room on its disk",
    NOAUTH: "it asks for a user and a password",
    NOPERM: "the operator's user lacks a right; ACL LOG names it, docs/reference/redis.md has all",
    NOREPLICAS: "too few of its replicas are connected",
    OOM: "its memory is used up; raise maxmemory or delete data",
    READONLY: "it is a replica; its address has to lead to the primary",
    WRONGPASS: "the operator's user or password is wrong",
  }),
);

/** Undefined for a failure that has nothing to do with writing to Redis. */
export function whyUnpublished(error: unknown): WhyUnpublished | undefined {
  if (error instanceof RedisRefused) return { reason: error.reason, message: error.message };
  if (error instanceof FleetRingUnusable) {
    const message =
      "The fleet's key ring is missing or damaged: nothing is published until an administrator of jsonplane restores it. The operator's log says how";
    return { reason: "KeyRingUnusable", message };
  }
  if (!temporary.some((kind) => error instanceof kind)) return undefined;
  return { reason: "PublishFailed", message: messageOf(error) };
}

function messageOf(error: unknown): string {
  if (error instanceof InventoryUnreadable) return error.message;
  if (error instanceof RedisFault && error.code === "NOJSON") return error.message;
  const code = replyCode((error as Error).cause);
  const why = code === undefined ? undefined : refusals.get(code);
  if (why === undefined) return "The configuration can't be written to Redis at the moment; the operator retries";
  return `Redis refuses to write the configuration (${code}): ${why}. The operator retries`;
}
