// Why a publisher refuses to write, beside the store's own errors.

/** Another publisher has begun, or the configuration was emptied or lost writes: begin anew and publish everything. */
export class NotTheWriter extends Error {
  override readonly name = "NotTheWriter";
}

/** The Redis is left to another installation until a person decides otherwise; its message says what that one can do. */
export abstract class RedisRefused extends Error {
  /** Where the key ring of the one is that writes there; empty = not said by an operator of an earlier version. Not for tenants. */
  readonly writer: string;

  constructor(message: string, writer: string) {
    super(message);
    this.writer = writer;
  }
}

/** The Redis belongs to another installation, or to one whose key ring was lost. */
export class ForeignInstance extends RedisRefused {
  override readonly name = "ForeignInstance";

  constructor(writer = "") {
    super(
      "This Redis holds the configuration of another installation, or the fleet's key ring was lost: name another Redis with --redis, bring the Secret of the key ring back, or start with --adopt-data to take it over",
      writer,
    );
  }
}

/** Another installation has a copy of this one's key ring, and the Redis. */
export class KeyRingCopied extends RedisRefused {
  override readonly name = "KeyRingCopied";

  constructor(writer = "") {
    super(
      "This Redis is written by another installation, which has a copy of this one's key ring: name another Redis with --redis, or stop the other one and start this one with --adopt-data to take the Redis over",
      writer,
    );
  }
}

/** The data record of one project is broken; its message says what a person can do. */
export class RecordUnreadable extends Error {
  override readonly name = "RecordUnreadable";
}
