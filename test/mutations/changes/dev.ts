// Faults of dev mode, and of what is generated for users of the chart.

import type { Mutation } from "../mutation.ts";

export const devMutations: readonly Mutation[] = [
  {
    name: "notes-printed-at-every-change",
    harm: "The one line that matters after a change is lost among notes that were printed before",
    file: "cli/dev/report.ts",
    find: "...(before?.notes ?? []).map(noteLine)",
    replace: "...(before?.notes ?? []).map(problemLine)",
    caughtBy: ["test/unit/cli/dev/cluster.test.ts"],
  },
  {
    name: "strict-validation-lets-warnings-pass",
    harm: "A pipeline that asks for strictness merges a schema whose limit is misspelt and never checked",
    file: "cli/validate/run-validate.ts",
    find: "if (strict && warnings.length > 0) {",
    replace: "if (strict && warnings.length > 50) {",
    caughtBy: ["test/unit/cli/validate/run-validate.test.ts"],
  },
  {
    name: "impossible-requirements-unsaid",
    harm: "A schema that no object can match is accepted without a word",
    file: "core/schema/read/check-tree.ts",
    find: "    if (declared?.has(name)) continue;",
    replace: "    if (declared) continue;",
    caughtBy: ["test/unit/core/schema/warnings.test.ts"],
  },
  {
    name: "deletion-announced-as-keeping",
    harm: "Dev mode says that data are kept which it deletes five seconds later",
    file: "cli/dev/stored-data-news.ts",
    find: "return [{ subject, object: own, policy: deletionPolicy }];",
    replace: 'return [{ subject, object: own, policy: "Retain" }];',
    caughtBy: ["test/unit/cli/dev/stored-data-news.test.ts"],
  },
  {
    name: "unread-documents-withdrawn",
    harm: "A lost separator between two manifests withdraws one of them, and its data are deleted",
    file: "cli/manifests/check-manifests.ts",
    find: 'if (isUnread || subject === undefined || subject.includes("?")) return true;',
    replace: 'if (subject === undefined || subject.includes("?")) return true;',
    caughtBy: ["test/unit/cli/dev/unreadable-documents.test.ts"],
  },
  {
    name: "misspelt-kinds-withdrawn",
    harm: "A typing error in a kind withdraws the object, and its data are deleted",
    file: "cli/manifests/check-manifests.ts",
    find: 'return kind !== "Secret" && !kinds.some((known) => known === kind);',
    replace: "return kind === undefined;",
    caughtBy: ["test/unit/cli/dev/unreadable-documents.test.ts"],
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
