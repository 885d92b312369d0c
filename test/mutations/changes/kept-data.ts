// Faults of what is kept without being served: what people ask to be deleted of it, and what must stay.

import type { Mutation } from "../mutation.ts";

export const keptDataMutations: readonly Mutation[] = [
  {
    name: "request-deletes-what-is-served",
    harm: "An annotation that asks for kept data deletes what is being served",
    file: "operator/finalize/kept-data.ts",
    find: "if (served.has(place) || entry.doomedAt !== undefined) return entry;",
    replace: "if (entry.doomedAt !== undefined) return entry;",
    caughtBy: ["test/unit/operator/finalize/kept-data.test.ts"],
  },
  {
    name: "request-deletes-what-an-object-names",
    harm: "An annotation deletes the data of an object that is there and waits for its Project, or to be mended",
    file: "operator/finalize/kept-data.ts",
    find: "const request = kept.guarded === true ? undefined : requestFor(kept);",
    replace: "const request = requestFor(kept);",
    caughtBy: ["test/unit/operator/finalize/kept-data.test.ts"],
  },
  {
    name: "request-waits-for-its-object-to-go",
    harm: "An annotation that could not mean refused data deletes them weeks later, when their object is replaced",
    file: "operator/finalize/kept-data.ts",
    find: "const isFreed = guarded === true && !isGuarded;",
    replace: "const isFreed = false;",
    caughtBy: ["test/unit/operator/finalize/kept-data.test.ts"],
  },
  {
    name: "annotation-deletes-what-is-kept-later",
    harm: "An annotation that stays in Git deletes what is kept a month later under the same name",
    file: "operator/finalize/deletion-requests.ts",
    find: "Date.parse(entry.retainedAt) <= until;",
    replace: "Number.isFinite(until);",
    caughtBy: [
      "test/unit/operator/finalize/deletion-requests.test.ts",
      "test/unit/operator/finalize/kept-data.test.ts",
      "test/operator/kept-data.test.ts",
    ],
  },
  {
    name: "annotation-of-before-a-rollback-deletes",
    harm: "After a rollback and an update, an annotation from Git deletes everything that was kept since it was written",
    file: "operator/finalize/deletion-inbox.ts",
    find: "each.until < leadsSince ?",
    replace: "each.until < 0 ?",
    caughtBy: ["test/unit/operator/finalize/deletion-inbox.test.ts"],
  },
  {
    name: "clock-ahead-deletes-what-is-kept-later",
    harm: "An annotation written by a clock that is ahead deletes what is kept after it was written",
    file: "operator/finalize/kept-data.ts",
    find: "const since = Math.max(input.now, ...input.requests.map(({ until }) => until + 1));",
    replace: "const since = input.now;",
    caughtBy: ["test/unit/operator/finalize/kept-data.test.ts"],
  },
  {
    name: "request-forgotten-before-it-is-on-record",
    harm: "A request on the Secret is taken away by a leader that ends before it has acted on it, and nothing is deleted",
    file: "operator/finalize/deletion-inbox.ts",
    find: "isMeant(entry, request))) return false;",
    replace: "isMeant(entry, request))) return byProject.size > 0;",
    caughtBy: ["test/unit/operator/finalize/deletion-inbox.test.ts"],
  },
  {
    name: "time-of-keeping-forgotten",
    harm: "What was kept long ago seems to be kept since the last look, and an annotation of that time never deletes it",
    file: "operator/finalize/doom.ts",
    find: "const { policy: _, retained: __, doomedAt, doomedBy: ___, ...rest } = entry;",
    replace: "const { policy: _, retained: __, doomedAt, doomedBy: ___, retainedAt: ____, ...rest } = entry;",
    caughtBy: ["test/unit/operator/finalize/data-plan.test.ts"],
  },
];
