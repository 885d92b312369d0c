// Faults of what a request is answered: a wrong code, a wrong reason, a success where nothing was done.

import type { Mutation } from "../mutation.ts";

export const answerMutations: readonly Mutation[] = [
  {
    name: "failed-precondition-taken-for-no-change",
    harm: "A PATCH whose If-Match is stale is answered 200 where the stored value is null, and its change is lost",
    file: "dataplane/documents/reads-and-writes.ts",
    find: 'if (expected === "never") return put("null");',
    replace: 'if (expected === "never") return text === "null" ? { outcome: "replaced", text } : put("null");',
    caughtBy: ["test/http/conditional-writes.test.ts"],
  },
];
