// What the last look at the replicas found. It stands for what they have acknowledged, however old it is; for what they serve now only as
// long as each heartbeat of it may still count.

import type { Monotonic } from "../../core/timers.ts";
import { type Liveness, livenessOf } from "./availability.ts";
import { liveMs, type ReplicaState } from "./replicas.ts";

export class LastLook {
  readonly #monotonic: Monotonic;
  #replicas: readonly ReplicaState[] | undefined;
  #at = Number.NEGATIVE_INFINITY;
  #liveness: Liveness = "unknown";

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic;
  }

  found(replicas: readonly ReplicaState[]): void {
    this.#replicas = replicas;
    this.#at = this.#monotonic();
  }

  /** Undefined until Redis has said it once: not to know of any is not the same as that there is none. */
  replicas(): readonly ReplicaState[] | undefined {
    return this.#replicas;
  }

  /** Undefined when nothing is known of now. */
  live(): readonly ReplicaState[] | undefined {
    return this.#monotonic() - this.#at > liveMs ? undefined : this.#replicas;
  }

  liveness(): Liveness {
    return livenessOf(this.live());
  }

  /** Whether the liveness is another one than when this was asked last. */
  hasTurned(): boolean {
    const before = this.#liveness;
    this.#liveness = this.liveness();
    return this.#liveness !== before;
  }
}
