// Faults of counting what Projects store, and of reporting it.

import type { Mutation } from "../mutation.ts";

const counting = "dataplane/config/count-stored-objects.ts";
const maintenance = "operator/runtime/usage-maintenance.ts";

export const storedObjectsMutations: readonly Mutation[] = [
  {
    name: "all-projects-counted-at-once",
    harm: "Once a minute, requests to all projects wait behind 60,000 commands of one replica",
    file: counting,
    find: "const atOnce = 50;",
    replace: "const atOnce = 10_000;",
    caughtBy: ["test/store/stored-objects.test.ts"],
  },
  {
    name: "every-replica-counts",
    harm: "Redis counts everything once for each replica",
    file: counting,
    find: "=== null) return undefined;",
    replace: "=== 0) return undefined;",
    caughtBy: ["test/store/stored-objects.test.ts"],
  },
  {
    name: "counts-dropped-by-a-replica-that-starts",
    harm: "While a replica starts, the counts of Projects that it does not know yet disappear from metrics",
    file: counting,
    find: "if (!directory.synced()) return undefined;",
    replace: "",
    caughtBy: ["test/store/stored-objects.test.ts"],
  },
  {
    name: "unchanged-counts-written",
    harm: "Replicas write the counts of all Projects to Redis, and to its append-only file, although nothing changed",
    file: counting,
    find: "former.get(name) !== count",
    replace: "former.get(name) !== undefined || count !== undefined",
    caughtBy: ["test/store/stored-objects.test.ts"],
  },
  {
    name: "each-stored-object-written-to-a-status",
    harm: "Each write of a client becomes a write of the API server, up to one a minute for each Project",
    file: "operator/status/usage-status.ts",
    find: "const minReportedChange = 0.01;",
    replace: "const minReportedChange = 0;",
    caughtBy: ["test/unit/operator/status/usage-status.test.ts"],
  },
  {
    name: "each-write-of-a-quota-written-to-a-status",
    harm: "Whenever a Project is looked at, for whatever reason, its status is written because its bytes have changed",
    file: "operator/status/usage-status.ts",
    find: "if (canWait && !(isDue && hasMoved(before.used, use.used))) return before;",
    replace: "if (canWait && before.used === use.used) return before;",
    caughtBy: ["test/unit/operator/status/usage-status.test.ts"],
  },
  {
    name: "bytes-move-by-the-limit",
    harm: "With a large quota of bytes, the column BYTES shows what was stored weeks ago",
    file: "operator/status/usage-status.ts",
    find: "hasMoved(used, quotaUsage?.[quota]?.used)",
    replace:
      "Math.abs((quotaUsage?.[quota]?.used ?? used) - used) >= minReportedChange * (quotaUsage?.[quota]?.limit ?? 1)",
    caughtBy: [
      "test/unit/operator/status/usage-status.test.ts",
      "test/unit/operator/runtime/usage-maintenance.test.ts",
    ],
  },
  {
    name: "all-counts-reported-in-one-look",
    harm: "After an upgrade, the API server gets thousands of writes of statuses at once",
    file: maintenance,
    find: ".slice(0, maxReportsPerLook)",
    replace: "",
    caughtBy: ["test/unit/operator/runtime/usage-maintenance.test.ts"],
  },
  {
    name: "some-counts-never-reported",
    harm: "Where hundreds of Projects change all the time, the statuses of those late in the alphabet never follow",
    file: maintenance,
    find: "roundRobin(dueKeys(opened.acknowledgements.quotaUsages()), lastDue)",
    replace: 'roundRobin(dueKeys(opened.acknowledgements.quotaUsages()), "")',
    caughtBy: ["test/unit/operator/runtime/usage-maintenance.test.ts"],
  },
  {
    name: "a-series-for-each-of-any-number-of-projects",
    harm: "Tenants that create Projects without end fill Prometheus",
    file: "operator/observe/stored-series.ts",
    find: "const others = all.slice(max);",
    replace: "const others = all.slice(all.length);",
    caughtBy: ["test/unit/operator/observe/stored-series.test.ts"],
  },
];
