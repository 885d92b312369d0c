// Faults of dev mode, and of what is generated for users of the chart.

import type { Mutation } from "../mutation.ts";

export const devMutations: readonly Mutation[] = [
  {
    name: "seed-goes-into-what-is-there",
    harm: "Every restart of dev mode stores the seed once more, beside what people have written",
    file: "cli/dev/seed/seeder.ts",
    find: "if (present > 0) return",
    replace: "if (present < 0) return",
    caughtBy: ["test/process/seed.test.ts"],
  },
  {
    name: "half-of-a-seed-is-stored",
    harm: "Of a seed with a mistake the objects before the mistake are stored, and the mended file is never taken in",
    file: "cli/dev/seed/seeder.ts",
    find: "const total = await checkAll(file, toObject, maxObjects);",
    replace: "const total = maxObjects;",
    caughtBy: ["test/process/seed.test.ts"],
  },
  {
    name: "notes-printed-at-every-change",
    harm: "The one line that matters after a change is lost among notes that were printed before",
    file: "cli/dev/report.ts",
    find: "...(before?.notes ?? []).map(noteLine)",
    replace: "...(before?.notes ?? []).map(problemLine)",
    caughtBy: ["test/unit/cli/dev/cluster.test.ts"],
  },
  {
    name: "pending-deletions-forgotten",
    harm: "Data and Secrets of what was removed just before dev mode stopped are never deleted",
    file: "cli/dev/state-file.ts",
    find: "graves: pendingDeletions,",
    replace: "graves: [],",
    caughtBy: ["test/unit/cli/dev/cluster.test.ts"],
  },
  {
    name: "misspelt-chart-values-are-lost",
    harm: "A value of the chart that is misspelt is ignored without a word",
    file: "tools/chart-values/read-values.ts",
    find: 'type: "object", additionalProperties: false, properties',
    replace: 'type: "object", properties',
    caughtBy: ["test/unit/tools/chart-values/read-values.test.ts"],
  },
];
