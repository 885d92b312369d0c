// Metrics of what projects store.

import { Gauge, type Registry } from "prom-client";
import type { UsageReport } from "../quotas/quotas.ts";

const labelNames = ["namespace", "project", "kind"] as const;

/** What projects with a quota store, and their limits, read when Prometheus asks. */
export function registerQuotaGauges(registry: Registry, reports: () => readonly UsageReport[]): void {
  const gauge = (name: string, help: string, figure: "used" | "limit"): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        // A project that is gone, or has no quota any more, has no series.
        this.reset();
        for (const { project, quotas } of reports()) {
          for (const [kind, use] of Object.entries(quotas)) {
            this.set({ namespace: project.namespace, project: project.name, kind }, use[figure]);
          }
        }
      },
    });
  };
  gauge(
    "jsonplane_project_usage",
    "What a project with a quota holds (objects, bytes, documentKeys), as this replica knows it: of several, take the largest",
    "used",
  );
  gauge("jsonplane_project_quota", "How much the project may hold, by its quota", "limit");
}
