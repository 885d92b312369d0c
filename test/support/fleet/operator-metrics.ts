// The operator's metrics with readings that a test can change, and what Prometheus would read.

import { nothingRetained } from "../../../operator/observe/figures.ts";
import {
  createOperatorMetrics,
  type OperatorMetrics,
  type OperatorMetricsOptions,
} from "../../../operator/observe/metrics.ts";
import { manualClock } from "../time/manual-clock.ts";

export interface ReadMetrics extends OperatorMetrics {
  /** The value of a series, written as Prometheus does; undefined when it is not there. */
  series(text: string): Promise<number | undefined>;
}

export function operatorMetrics(options: Partial<OperatorMetricsOptions> = {}): ReadMetrics {
  const metrics = createOperatorMetrics({
    clock: manualClock(),
    leaseName: "jsonplane-operator",
    leads: () => false,
    informers: () => [],
    queue: () => undefined,
    workers: 8,
    replicas: () => undefined,
    dataLost: () => false,
    publishHealth: () => undefined,
    retainedData: () => nothingRetained,
    redisServers: () => [],
    backups: () => undefined,
    oldestRevocationSeconds: () => undefined,
    objects: () => [],
    invalidStoredObjects: () => [],
    unavailableProjects: () => 0,
    stalled: () => [],
    storedObjects: () => new Map(),
    issuers: () => undefined,
    ...options,
  });
  return {
    ...metrics,
    async series(text) {
      const line = (await metrics.registry.metrics()).split("\n").find((each) => each.startsWith(`${text} `));
      return line === undefined ? undefined : Number(line.slice(text.length + 1));
    },
  };
}
