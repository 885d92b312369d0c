// A reflector of one kind on a real API server, with real time, whose objects nobody else is told
// of.

import { systemMonotonic, systemTimers } from "../../core/timers.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createReflector, type Reflector } from "../../operator/watch/reflector.ts";
import type { ReflectorOptions } from "../../operator/watch/reflector-options.ts";

export type WatchedKind = Pick<ReflectorOptions, "type" | "scope">;

export function startReflector(
  api: KubeApi,
  kind: WatchedKind,
  more: Partial<Pick<ReflectorOptions, "observe" | "times">> = {},
): Reflector {
  const reflector = createReflector({
    reader: api,
    ...kind,
    sink: { upserted: () => undefined, removed: () => undefined },
    timers: systemTimers,
    monotonic: systemMonotonic,
    random: Math.random,
    observe: () => undefined,
    ...more,
  });
  reflector.start();
  return reflector;
}
