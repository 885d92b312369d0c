// Metrics of objects that expire.

import { Counter, Gauge, type Registry } from "prom-client";
import type { SweepObservation } from "../expiry/sweep.ts";

/** Registers them; call what is returned for each collection that was looked at. */
export function expiryObserver(registry: Registry): (observation: SweepObservation) => void {
  const registers = [registry];
  const removed = new Counter({
    name: "jsonplane_expired_objects_total",
    help: "Expired objects that this replica removed in the background; requests remove some as well",
    registers,
  });
  let longest = 0;
  new Gauge({
    name: "jsonplane_expiry_overdue_seconds",
    help: "How long an expired object had waited for its removal when this replica came to it, the longest since the last scrape",
    registers,
    collect() {
      this.set(longest);
      longest = 0;
    },
  });
  return (observation) => {
    removed.inc(observation.removed);
    longest = Math.max(longest, observation.overdueSeconds);
  };
}
