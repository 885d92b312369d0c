// The right to write. The holder of the Lease may; a process that lost it, or can't be sure, may not.

export interface Leadership {
  /**
   * Whether a write may start now: the Lease was renewed less than the renew deadline ago, by the monotonic clock and by the time of day,
   * and nobody took it. Looked at before every write, so that a process which was paused writes nothing when it wakes up.
   */
  held(): boolean;
  /** Aborted at the moment the Lease is lost or released. */
  readonly ended: AbortSignal;
  /** Reads the Lease again from the server; true when this process still holds it. */
  confirm(): Promise<boolean>;
  /** Gives the Lease to the next holder: the holder empty, one second left. After the last write. */
  release(): Promise<void>;
}

/** A write was refused because this process is not, or no longer, the leader. */
export class NotTheLeader extends Error {
  override readonly name = "NotTheLeader";
}
