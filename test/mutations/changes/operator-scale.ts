// Faults of what keeps the operator fast with many objects: shared answers, turns of namespaces, cheap hashes, kept counts.

import type { Mutation } from "../mutation.ts";

const recorder = "test/unit/operator/record/event-recorder.test.ts";

export const operatorScaleMutations: readonly Mutation[] = [
  {
    name: "an-event-for-each-new-object",
    harm: "When ten thousand Projects become ready, the API server has thousands of Events to write before it can do anything else",
    file: "operator/record/create-event-recorder.ts",
    find: `return note.type === "Normal" && !normal.tryTake() ? "rate" : undefined;`,
    replace: "return undefined;",
    caughtBy: [recorder],
  },
  {
    name: "warnings-dropped-with-normal-events",
    harm: "While many objects become ready, nobody is told of what went wrong",
    file: "operator/record/create-event-recorder.ts",
    find: `return note.type === "Normal" && !normal`,
    replace: "return !normal",
    caughtBy: [recorder],
  },
  {
    name: "namespace-of-a-former-project",
    harm: "A Project of a namespace that was made anew is taken for one of the former namespace, whose data it is served with",
    file: "operator/finalize/namespace-uids.ts",
    find: "arrival < former.seenBefore && ",
    replace: "",
    caughtBy: ["test/unit/operator/finalize/namespace-uids.test.ts"],
  },
  {
    name: "edited-secret-taken-for-an-own-write",
    harm: "A Secret that somebody edits while the operator writes it is not repaired, and not used, until something else changes",
    file: "operator/runtime/writes-under-way.ts",
    find: "for (const each of held) if (!isSameVersion(written, each)) handOn(each);",
    replace: "",
    caughtBy: ["test/unit/operator/runtime/event-handlers.test.ts"],
  },
  {
    name: "one-namespace-before-all-others",
    harm: "A namespace with thousands of changes delays those of all others, such as a revoked key, until all of its own are served",
    file: "operator/queue/fair-queue.ts",
    find: "const namespaceOf = (key: string): string => projectOfKey(key).namespace;",
    replace: `const namespaceOf = (_: string): string => "";`,
    caughtBy: ["test/unit/operator/queue/work-queue.test.ts"],
  },
  {
    name: "chosen-passwords-hashed-cheaply",
    harm: "Whoever gets at the hash of a password that a person chose guesses it in minutes",
    file: "operator/resolve/resolve-user.ts",
    find: "const generated = mark !== undefined;",
    replace: "const generated = true;",
    caughtBy: ["test/unit/operator/resolve/resolve-user.test.ts"],
  },
  {
    name: "users-with-generated-passwords-found-by-time",
    harm: "A login that is refused at once shows that there is a user of that name",
    file: "dataplane/sessions/passwords.ts",
    find: "if (isGenerated && isCheapRight) return true;",
    replace: "if (isGenerated) return isCheapRight;",
    caughtBy: ["test/unit/dataplane/sessions/passwords.test.ts"],
  },
  {
    name: "changed-objects-counted-again",
    harm: "`jsonplane_objects` grows with each change of a status, and alerts that go by it say nothing",
    file: "operator/watch/project-index.ts",
    find: "observe(presentIn(entry, object), object);",
    replace: "observe(undefined, object);",
    caughtBy: ["test/unit/operator/observe/object-counts.test.ts"],
  },
  {
    name: "change-forgotten-while-caches-are-listed-again",
    harm: "A change that comes while the operator lists again what it may have missed is never served",
    file: "operator/runtime/process-key.ts",
    find: "if (deps.isCurrent(ref.namespace)) return { requeueAfterMs: 0 };",
    replace: "if (deps.isCurrent(ref.namespace)) return undefined;",
    caughtBy: ["test/unit/operator/runtime/process-key.test.ts"],
  },
  {
    name: "goes-on-after-a-failure",
    harm: "When the API server stops answering, each of a Project's thousand writes waits for its own timeout",
    file: "core/map-limited.ts",
    find: "if (failures.length > 0) return;",
    replace: "",
    caughtBy: ["test/unit/core/map-limited.test.ts"],
  },
];
