// Every Prometheus metric of the operator, on a registry of its own, and the observers that feed them. docs/reference/
// operator-metrics.md lists them.

import { Registry } from "prom-client";
import { type ClusterMetrics, type ClusterMetricsOptions, clusterMetrics } from "./cluster-metrics.ts";
import { type ConfigGauges, type ConfigObservation, configMetrics } from "./config-metrics.ts";
import { instrumentsOn } from "./instruments.ts";
import { type WorkGauges, type WorkMetrics, workMetrics } from "./work-metrics.ts";

/** The functions are called when Prometheus asks, so they may look at what is made later than the metrics. */
export type OperatorMetricsOptions = ClusterMetricsOptions & ConfigGauges & WorkGauges;

export interface OperatorMetrics extends ClusterMetrics, WorkMetrics {
  readonly registry: Registry;
  readonly observeConfig: (observation: ConfigObservation) => void;
}

export function createOperatorMetrics(options: OperatorMetricsOptions): OperatorMetrics {
  const registry = new Registry();
  const instruments = instrumentsOn(registry);
  const metrics = {
    registry,
    ...workMetrics(instruments, options),
    ...clusterMetrics(instruments, options),
    ...configMetrics(instruments, options),
  };
  instruments.read({ name: "process_resident_memory_bytes", help: "Resident memory of the process" }, () => [
    { value: process.memoryUsage.rss() },
  ]);
  return metrics;
}
