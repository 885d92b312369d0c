// One watch, until the server ends it, it fails, or it is silent for too long.

import { type Monotonic, pause, type Timers } from "../../core/timers.ts";
import type { KubeReader, ResourceType, WatchEvent, WatchRequest } from "../kube/api.ts";
import { joinSignals } from "../kube/signals.ts";

/** Not a byte came: the connection may be dead. */
export class WatchSilent extends Error {
  override readonly name = "WatchSilent";
}

export interface WatchOnce {
  readonly reader: KubeReader;
  readonly type: ResourceType;
  readonly request: WatchRequest;
  readonly signal: AbortSignal;
  readonly idleMs: number;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  readonly onBytes: () => void;
  readonly onEvent: (event: WatchEvent) => void;
}

export async function watchOnce(watch: WatchOnce): Promise<void> {
  const { reader, type, request, onEvent } = watch;
  const guard = idleGuard(watch);
  const both = joinSignals([watch.signal, guard.signal]);
  const onBytes = (): void => {
    guard.alive();
    watch.onBytes();
  };
  try {
    for await (const event of reader.watch(type, request, { signal: both.signal, onBytes })) {
      if (both.signal.aborted) throw both.signal.reason;
      onEvent(event);
    }
  } finally {
    both.end();
    guard.end();
  }
}

interface IdleGuard {
  readonly signal: AbortSignal;
  alive(): void;
  end(): void;
}

/** One timer that looks how long ago the last byte was, instead of a new one for each piece. */
function idleGuard({ idleMs, timers, monotonic }: WatchOnce): IdleGuard {
  const silence = new AbortController();
  const over = new AbortController();
  let last = monotonic();
  const guarding = async (): Promise<void> => {
    for (let left = idleMs; left > 0; left = last + idleMs - monotonic()) await pause(timers, left, over.signal);
    silence.abort(new WatchSilent(`watch: nothing came for ${idleMs / 1_000} s`));
  };
  guarding().catch(() => undefined); // It was ended.
  return {
    signal: silence.signal,
    alive() {
      last = monotonic();
    },
    end: () => over.abort(),
  };
}
