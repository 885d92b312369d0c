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
  {
    name: "bytes-refused-as-objects",
    harm: "A list of a few large objects is refused with 'more than 10000 objects', and with an index that does not help",
    file: "dataplane/objects/list/filter-and-sort.ts",
    find: 'if (end !== "go on" && end !== "enough") return { excess: end };',
    replace: 'if (end !== "go on" && end !== "enough") return { excess: "objects" };',
    caughtBy: ["test/unit/dataplane/objects/list/filter-and-sort.test.ts"],
  },
  {
    name: "bytes-refused-as-objects-over-http",
    harm: "A list of a few large objects is refused with 'more than 10000 objects', and with an index that does not help",
    file: "dataplane/objects/list/refusals.ts",
    find: 'if (excess === "bytes_kept") return keptTooMuch(query);',
    replace: "",
    caughtBy: ["test/http/lists-large.test.ts"],
  },
  {
    name: "lost-race-told-as-an-outage",
    harm: "A client whose write lost against others reads that the store can't be reached, and the alert of an outage fires",
    file: "dataplane/store/redis/objects.ts",
    find: "throw new WriteConflict(",
    replace: "throw new Error(",
    caughtBy: ["test/unit/dataplane/store/redis/lost-races.test.ts"],
  },
  {
    name: "lost-race-counted-as-an-outage",
    harm: "JsonplaneStoreFailing fires because many clients change one object",
    file: "dataplane/store/observed-store.ts",
    find: 'if (error instanceof WriteConflict) return "ok";',
    replace: 'if (error instanceof WriteConflict) return "unavailable";',
    caughtBy: ["test/unit/dataplane/store/observed-store.test.ts"],
  },
  {
    name: "removed-value-told-as-an-outage",
    harm: "A client whose root key was purged while it wrote reads that the service failed",
    file: "dataplane/documents/reads-and-writes.ts",
    find: '    case "missing_document":\n      return conflict("value");',
    replace: '      return conflict("value");\n    case "missing_document":\n      throw new Error("None");',
    caughtBy: ["test/http/contended-writes.test.ts"],
  },
  {
    name: "broken-reply-shown-as-an-empty-list",
    harm: "A defect of a script shows clients an empty collection, as if all objects were gone",
    file: "dataplane/store/redis/store-script.ts",
    find: 'if (reply === "stale") throw unexpectedCode(script, code.stale_index_set);',
    replace: 'if (reply === "stale") return { count: 0, texts: [], rest: [], script } as object as T;',
    caughtBy: ["test/unit/dataplane/store/redis/broken-replies.test.ts"],
  },
  {
    name: "declared-while-a-build-ends",
    harm: "An index that is added while another one becomes ready is never built, and nothing says so: lists by it are refused for good",
    file: "dataplane/objects/prepare-collection.ts",
    find: 'if (step === "done" && !declaredMeanwhile.has(name)) break;',
    replace: 'if (step === "done") break;',
    caughtBy: ["test/unit/dataplane/objects/prepare-collection.test.ts"],
  },
  {
    name: "declared-while-a-build-ends-over-http",
    harm: "An index that is added while another one becomes ready is never built, and nothing says so: lists by it are refused for good",
    file: "dataplane/objects/prepare-collection.ts",
    find: "if (builds.has(name)) declaredMeanwhile.add(name);",
    replace: "if (builds.has(name)) return;",
    caughtBy: ["test/http/index-recovery.test.ts"],
  },
];
