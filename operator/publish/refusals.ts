// Why a publisher refuses to write, beside the store's own errors. Within one installation the
// holder of the Lease takes the epoch immediately. The Redis of another one is taken only where a
// person allows it, and one that a newer version wrote never.

import type { UnpublishedReason } from "../model/reasons.ts";

/**
 * Another publisher has begun, or the configuration was emptied or lost writes: begin again and
 * publish everything.
 */
export class NotTheWriter extends Error {
  override readonly name = "NotTheWriter";
}

/**
 * Redis is not written to until somebody changes something outside the operator; the message says
 * what.
 */
export abstract class RedisRefused extends Error {
  abstract readonly reason: UnpublishedReason;
  /** For the log, not for tenants. */
  abstract readonly facts: Readonly<Record<string, string>>;
}

/**
 * The Redis belongs to another installation, or to one whose key ring was lost, until a person
 * decides otherwise.
 */
export class RedisContested extends RedisRefused {
  override readonly name = "RedisContested";
  readonly reason = "RedisContested";
  readonly facts: Readonly<Record<string, string>>;

  /** `owner`: what the Redis says of its installation; not for tenants. */
  constructor(owner: string) {
    super(
      "This Redis belongs to another installation, or the fleet's key ring was lost: name another Redis with --redis, restore the Secret of the key ring, or, once the other installation is stopped, start with --adopt-data to take the Redis over",
    );
    this.facts = { owner };
  }
}

/** A newer version has written what Redis holds, and this one can't read all of it. */
export class WrittenByNewerVersion extends RedisRefused {
  override readonly name = "WrittenByNewerVersion";
  readonly reason = "NewerVersion";
  readonly facts: Readonly<Record<string, string>>;

  constructor(found: number, own: number) {
    super(
      `The configuration in Redis has format ${found}, which a newer version wrote, and this operator reads up to ${own}: update the operator to that version again`,
    );
    this.facts = { found: String(found), own: String(own) };
  }
}

/** Live replicas are of an earlier version, and could not read what this one writes. */
export class ReplicasOutdated extends RedisRefused {
  override readonly name = "ReplicasOutdated";
  readonly reason = "ReplicasOutdated";
  readonly facts: Readonly<Record<string, string>>;

  constructor(replicas: readonly string[]) {
    super(
      "Some data-plane replicas are of an earlier version, which can't read what this operator writes; it waits until they are updated or stopped",
    );
    this.facts = { replicas: replicas.join(",") };
  }
}

/** The data inventory of one project is broken; its message says what a person can do. */
export class InventoryUnreadable extends Error {
  override readonly name = "InventoryUnreadable";
}
