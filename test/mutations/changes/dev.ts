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
    name: "pending-deletions-forgotten",
    harm: "Data and Secrets of what was removed just before dev mode stopped are never deleted",
    file: "cli/dev/state-file.ts",
    find: "graves: pendingDeletions,",
    replace: "graves: [],",
    caughtBy: ["test/unit/cli/dev/cluster.test.ts"],
  },
  {
    name: "folders-of-one-name-share-data",
    harm: "Two folders of manifests with one name have one data folder, and the second can't be served",
    file: "cli/dev/choose-data-folder.ts",
    find: "update(pathFrom(parent, manifests))",
    replace: "update(basename(resolve(manifests)))",
    caughtBy: ["test/process/dev-data-folder.test.ts"],
  },
  {
    name: "former-data-folder-unused",
    harm: "After an update, the data and secrets that a folder of manifests had seem to be gone",
    file: "cli/dev/choose-data-folder.ts",
    find: "bound === pathFrom(parent, manifests)",
    replace: "bound === manifests",
    caughtBy: ["test/process/dev-data-folder.test.ts"],
  },
  {
    name: "writes-go-into-removed-files",
    harm: "Writes are acknowledged after the data folder was removed, and nobody finds them again",
    file: "dataplane/store/embedded/transactions.ts",
    find: "      requireInPlace();\n    } catch (failure) {\n      rollBack();\n      return refuse(jobs, failure",
    replace: "    } catch (failure) {\n      rollBack();\n      return refuse(jobs, failure",
    caughtBy: ["test/store/embedded-transactions.test.ts"],
  },
  {
    name: "lost-data-end-as-success",
    harm: "A script that started dev mode can't know that its data folder was removed under it",
    file: "cli/dev/watch-data-folder.ts",
    find: "resolve(1)",
    replace: "resolve(0)",
    caughtBy: ["test/process/dev-data-folder.test.ts"],
  },
  {
    name: "secrets-minted-into-a-lost-folder",
    harm: "Secrets are reported as gone and made again, in a data folder that was just removed or replaced",
    file: "cli/dev/secret-files.ts",
    find: "async read() {\n      requireInPlace();",
    replace: "async read() {",
    caughtBy: ["test/unit/cli/dev/held-place.test.ts"],
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
