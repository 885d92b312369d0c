// Makes this process the leader when it can be, and keeps it so: a Lease that is renewed every two seconds, and that others leave
// alone for fifteen after its last change as they saw it. A leader that could not renew for ten seconds has stopped by itself
// before anyone can take over; one that was paused for longer does not try. Other durations keep these proportions.

import type { Clock } from "../../core/clock.ts";
import { type Monotonic, pause, type Timers } from "../../core/timers.ts";
import type { KubeApi } from "../kube/api.ts";
import { keepLease } from "./keep-lease.ts";
import type { LeadObservation } from "./lead-observation.ts";
import type { Leadership } from "./leadership.ts";
import { createLeaseClient, type LeaseClient } from "./lease-client.ts";
import { type LeaseTimes, leaseTimes } from "./lease-times.ts";

export interface ElectorOptions {
  /** One that does not ask who leads. */
  readonly api: Pick<KubeApi, "get" | "create" | "replace">;
  readonly namespace: string;
  readonly name: string;
  /** No other process has it, and none that ran before had. */
  readonly identity: string;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly timers: Timers;
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
  readonly times?: Partial<LeaseTimes>;
  readonly observe?: (observation: LeadObservation) => void;
}

/** Standbys spread their attempts by this part to both sides. */
const jitter = 0.2;

export interface Elector {
  /** Resolves once this process leads. Rejects with the signal's reason when it is aborted before; the Lease is free then. */
  acquire(signal: AbortSignal): Promise<Leadership>;
}

export function createElector(options: ElectorOptions): Elector {
  const { api, namespace, name, identity, clock, monotonic, observe } = options;
  const times = sensible({ ...leaseTimes, ...options.times });
  const client = createLeaseClient({
    api,
    lease: { namespace, name },
    identity,
    ...times,
    clock,
    monotonic,
    seen: (holder) => observe?.({ kind: "holder", holder }),
  });
  return { acquire: (signal) => acquire({ ...options, times, client }, signal) };
}

interface Election extends ElectorOptions {
  readonly times: LeaseTimes;
  readonly client: LeaseClient;
}

async function acquire(election: Election, signal: AbortSignal): Promise<Leadership> {
  const { timers, random, times } = election;
  for (;;) {
    signal.throwIfAborted();
    const leadership = await attempt(election);
    if (signal.aborted) await leadership?.release();
    else if (leadership?.held()) return leadership;
    await pause(timers, times.takeMs * (1 - jitter + 2 * jitter * random()), signal);
  }
}

async function attempt(election: Election): Promise<Leadership | undefined> {
  const { client, observe } = election;
  try {
    const taken = await client.take();
    if (!taken.held) return undefined;
    observe?.({ kind: "acquired", transitions: taken.transitions });
    return keepLease(election, taken.moment);
  } catch (error) {
    observe?.({ kind: "failed", error });
    return undefined;
  }
}

/** With other proportions two processes could lead at once, or none for long. */
function sensible(times: LeaseTimes): LeaseTimes {
  const { leaseDurationMs, renewDeadlineMs, retryMs } = times;
  if (leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryMs * (1 + jitter)) return times;
  throw new RangeError("The lease must last longer than the renew deadline, and that longer than the retry period");
}
