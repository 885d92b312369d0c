// What a leader's session is given to work with in unit tests: an API server in this process, the
// caches over it, and observers that keep nothing.

import { systemClock } from "../../../../core/clock.ts";
import { systemMonotonic, systemTimers } from "../../../../core/timers.ts";
import type { EventObservation } from "../../../../operator/events/event-recorder.ts";
import { clusterLimits } from "../../../../operator/issuers/address-rules.ts";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import type { OperatorContext } from "../../../../operator/runtime/operator-context.ts";
import { type CacheListener, type Caches, createCaches } from "../../../../operator/watch/caches.ts";

const common = { timers: systemTimers, monotonic: systemMonotonic, random: () => 0.5 };
const ignore = (): void => undefined;

export interface CachesOver {
  readonly api: KubeApi;
  /** None = all. */
  readonly namespaces?: readonly string[];
  readonly listener?: () => CacheListener | undefined;
}

/** Not started. */
export function cachesOver({ api, namespaces = [], listener = () => undefined }: CachesOver): Caches {
  return createCaches({
    ...common,
    reader: api,
    namespaces,
    listener: {
      objectChanged: (...reported) => listener()?.objectChanged(...reported),
      objectRemoved: (object) => listener()?.objectRemoved(object),
      secretChanged: (secret) => listener()?.secretChanged(secret),
      secretRemoved: (secret) => listener()?.secretRemoved(secret),
    },
    observe: () => ignore,
  });
}

export interface SessionParts extends Pick<OperatorContext, "api" | "caches"> {
  readonly timers?: OperatorContext["timers"];
  readonly monotonic?: OperatorContext["monotonic"];
  readonly warn?: OperatorContext["logger"]["warn"];
  readonly observeEvent?: (observation: EventObservation) => void;
}

export function sessionContext({
  api,
  caches,
  observeEvent = ignore,
  warn = ignore,
  ...given
}: SessionParts): OperatorContext {
  const { timers = common.timers, monotonic = common.monotonic } = given;
  return {
    ...common,
    timers,
    monotonic,
    api,
    caches,
    guardRails: undefined,
    fetchLimits: clusterLimits,
    trust: ignore,
    clock: systemClock,
    logger: { info: ignore, warn, debug: ignore, error: ignore } as never,
    audit: { write: ignore },
    metrics: { observeQueue: ignore, observeEvent, observeWork: ignore, observeConfig: ignore } as never,
    settings: {
      redis: "redis://127.0.0.1:1",
      redisSecret: undefined,
      redisTlsSecret: undefined,
      namespace: "jsonplane-system",
      watchNamespaces: [],
      identity: "one",
      workers: 2,
      leaseDurationMs: 15_000,
      adopt: false,
      onDataLoss: "Refuse",
      allowedHosts: [{ namespace: "*", suffix: "example.org" }],
      allowedIssuers: [],
      guardRails: undefined,
      backupMaxAgeSeconds: undefined,
      baseUrlOf: ({ namespace, name }) => `http://api.test/${namespace}/${name}`,
    },
  };
}
