// Why a publisher refuses to write, beside the store's own errors; and to which installation a Redis belongs. Within one installation the holder of
// the Lease takes the epoch immediately. The Redis of another one, or of one with a copy of the key ring in another location, is taken only where a person
// allows it, and one that was written by a newer version never.

import type { UnpublishedReason } from "../model/reasons.ts";

/** Another publisher has begun, or the configuration was emptied or lost writes: begin again and publish everything. */
export class NotTheWriter extends Error {
  override readonly name = "NotTheWriter";
}

/** Redis is not written to until somebody changes something outside the operator; the message says what. */
export abstract class RedisRefused extends Error {
  abstract readonly reason: UnpublishedReason;
  /** For the log, not for tenants. */
  abstract readonly facts: Readonly<Record<string, string>>;
}

/** The Redis is left to another installation until a person decides otherwise. */
export abstract class RedisContested extends RedisRefused {
  readonly reason = "RedisContested";
  /**
   * Where the key ring of the one is that writes there; empty = its epoch names no location. Not
   * for tenants.
   */
  readonly writer: string;

  constructor(message: string, writer: string) {
    super(message);
    this.writer = writer;
  }

  get facts(): Readonly<Record<string, string>> {
    return { writer: this.writer };
  }
}

/** The Redis belongs to another installation, or to one whose key ring was lost. */
export class ForeignInstallation extends RedisContested {
  override readonly name = "ForeignInstallation";

  constructor(writer = "") {
    super(
      "This Redis holds the configuration of another installation, or the fleet's key ring was lost: name another Redis with --redis, restore the Secret of the key ring, or start with --adopt-data to take it over",
      writer,
    );
  }
}

/** Another installation has a copy of this one's key ring, and the Redis. */
export class KeyRingCopied extends RedisContested {
  override readonly name = "KeyRingCopied";

  constructor(writer = "") {
    super(
      "This Redis is written by another installation, which has a copy of this one's key ring: name another Redis with --redis, or stop the other one and start this one with --adopt-data to take the Redis over",
      writer,
    );
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

/** The data record of one project is broken; its message says what a person can do. */
export class RecordUnreadable extends Error {
  override readonly name = "RecordUnreadable";
}

/** An installation, as a Redis names it. */
export interface RedisOwner {
  /** A hash that only its key ring gives. */
  readonly owner: string;
  /** Where its key ring is, which distinguishes it from one that has a copy of the ring; without `#`. */
  readonly ringLocation: string;
}

/** What Redis says of its owner and its writer. */
export interface RedisState {
  /** Undefined = no installation. */
  readonly owner: string | undefined;
  /** Empty = none. */
  readonly epoch: string;
  /** Undefined = nothing was written there. */
  readonly format: number | undefined;
}

/** Never one that was there before, whatever becomes of Redis: a count would begin again. `name` = one publisher of one process. */
export function newEpoch(location: string, name: string, id: string): string {
  return `${location}#${name}#${id}`;
}

/** Empty where the text is no epoch. */
export function ringLocationIn(epoch: string): string {
  const [location = "", name, id, ...rest] = epoch.split("#");
  return name && id && rest.length === 0 ? location : "";
}

/** Why the Redis is to be left to another installation; undefined = it is `me`'s, or no installation's. */
export function refusalOf({ owner, epoch }: Omit<RedisState, "format">, me: RedisOwner): RedisContested | undefined {
  const location = ringLocationIn(epoch);
  if (owner !== undefined && owner !== me.owner) return new ForeignInstallation(location);
  return epoch === "" || location === me.ringLocation ? undefined : new KeyRingCopied(location);
}
