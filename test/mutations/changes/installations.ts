// Faults between installations: whose a Project, a finalizer or a status is, and what one says of another.

import type { Mutation } from "../mutation.ts";

export const installationMutations: readonly Mutation[] = [
  {
    name: "loser-of-a-redis-writes-over-the-other-one",
    harm: "Two installations of one class on one Redis write Ready and PublishFailed into the same statuses in turns",
    file: "operator/runtime/process-key.ts",
    find: "const rival = await deps.secrets.holderOf(objects);",
    replace: "const rival = undefined;",
    caughtBy: ["test/unit/operator/runtime/process-key.test.ts"],
  },
  {
    name: "rival-not-seen",
    harm: "Two installations of one class put right without end what the other one wrote",
    file: "operator/model/installation.ts",
    find: "return one.ringSecretName === other.ringSecretName",
    replace: 'return one.id === "" && one.ringSecretName === other.ringSecretName',
    caughtBy: ["test/unit/operator/runtime/two-installations.test.ts"],
  },
  {
    name: "rival-that-is-gone-obeyed",
    harm: "After the namespace of the former installation was deleted, a new one serves nothing",
    file: "operator/secrets/secret-ownership.ts",
    find: "return (await exists(maker)) ? maker : undefined;",
    replace: 'return (await exists(maker)) || maker.id !== "" ? maker : undefined;',
    caughtBy: ["test/unit/operator/secrets/secret-store.test.ts"],
  },
  {
    name: "finalizers-of-a-rival-taken-away",
    harm: "A Project goes before the installation that serves it has deleted its data",
    file: "operator/finalize/advance-deletions.ts",
    find: "const finalizers = rival === undefined ? await",
    replace: 'const finalizers = rival?.id !== "" ? await',
    caughtBy: ["test/unit/operator/runtime/two-installations.test.ts"],
  },
  {
    name: "copied-ring-taken-for-the-same-installation",
    harm: "Two installations with copies of one key ring put right without end what the other one wrote",
    file: "operator/model/installation.ts",
    find: "return one.ringSecretName === other.ringSecretName",
    replace: "return one.id !== other.id && one.ringSecretName === other.ringSecretName",
    caughtBy: ["test/unit/operator/secrets/secret-store.test.ts", "test/operator/moved-installation.test.ts"],
  },
  {
    name: "moved-installation-says-nothing",
    harm: "After a move to another namespace nothing in any status says why the new operator serves nothing",
    file: "operator/status/status-writer.ts",
    find: `      const now = deps.clock.now();
      const statuses = [...objectsByUid(objects).values()].flatMap((object): readonly StatusWrite[] => {
        if (objects.project === undefined && isKnownMissing(object)) return [];
        if (rival !== undefined && isLeftTo(object, now)) return contested(object, rival, now);`,
    replace: `      const now = deps.clock.now();
      const statuses = [...objectsByUid(objects).values()].flatMap((object): readonly StatusWrite[] => {
        if (objects.project === undefined && isKnownMissing(object)) return [];
        if (rival !== undefined && isLeftTo(object, now)) return [];`,
    caughtBy: ["test/unit/operator/runtime/two-installations.test.ts"],
  },
  {
    name: "contested-stays-after-the-takeover",
    harm: "A Project says for ever that another installation looks after it, and this one does",
    file: "operator/status/status-writer.ts",
    find: 'isOutdated(object, deps.namespace) ? ["Contested"] : []',
    replace: "isOutdated(object, deps.namespace) ? [] : []",
    caughtBy: ["test/unit/operator/runtime/two-installations.test.ts"],
  },
  {
    name: "outage-written-over-the-other-one",
    harm: "An installation whose own Redis is away says PublishFailed of what another one serves",
    file: "operator/status/status-writer.ts",
    find: "const isLeft = rival !== undefined && isLeftTo(object, now);",
    replace: "const isLeft = false;",
    caughtBy: ["test/unit/operator/runtime/two-installations.test.ts"],
  },
  {
    name: "rival-unknown-while-redis-was-never-open",
    harm: "An operator that starts while its own Redis is away says PublishFailed of what another installation serves",
    file: "operator/secrets/secret-ownership.ts",
    find: "if (maker === undefined || !areRivals(deps.ring, maker))",
    replace: "if (maker === undefined || deps.installation() === undefined || !areRivals(deps.ring, maker))",
    caughtBy: ["test/unit/operator/secrets/secret-store.test.ts"],
  },
  {
    name: "taken-redis-told-of-objects-without-a-project",
    harm: "Two installations on one Redis write ProjectNotFound and PublishFailed into the same statuses in turns",
    file: "operator/status/status-writer.ts",
    find: "if (objects.project === undefined && isKnownMissing(object)) return [];",
    replace: "",
    caughtBy: ["test/unit/operator/runtime/two-installations.test.ts"],
  },
  {
    name: "finalizers-adopted-again-and-again",
    harm: "Two installations with --adopt-data take a finalizer from one another for ever",
    file: "operator/finalize/advance-deletions.ts",
    find: "const isAdopted = adopt && !(wanted && repairs.wasWritten(target, text));",
    replace: "const isAdopted = adopt;",
    caughtBy: ["test/unit/operator/finalize/advance-deletions.test.ts"],
  },
  {
    name: "held-back-without-a-word",
    harm: "An object hangs in Terminating for another installation, and nothing in its status says so",
    file: "operator/finalize/advance-deletions.ts",
    find: 'return { outcome: "left", to: rival };',
    replace: 'return { outcome: "done" };',
    caughtBy: ["test/unit/operator/finalize/advance-deletions.test.ts", "test/operator/two-installations.test.ts"],
  },
  {
    name: "held-back-for-ever",
    harm: "An object hangs in Terminating for an installation whose namespace is gone, until somebody edits it",
    file: "operator/reconcile/requeue.ts",
    find: "resolved.rival !== undefined || progress.blockedBy.size > 0",
    replace: "resolved.rival !== undefined",
    caughtBy: ["test/unit/operator/runtime/process-key.test.ts"],
  },
  {
    name: "finalizers-asked-about-one-by-one",
    harm: "Thousands of objects of one installation cost a request each at every look",
    file: "operator/finalize/advance-deletions.ts",
    find: "answers.set(name, answer);",
    replace: "",
    caughtBy: ["test/unit/operator/finalize/advance-deletions.test.ts"],
  },
  {
    name: "rival-remembered-for-ever",
    harm: "A Project whose Secrets another installation made and that has none any more is served only after a restart",
    file: "operator/secrets/secret-ownership.ts",
    find: "monotonic() - known.seenAt >= forgottenMs",
    replace: "monotonic() - known.seenAt < 0",
    caughtBy: ["test/unit/operator/secrets/secret-store.test.ts"],
  },
  {
    name: "rival-forgotten-during-a-deletion",
    harm: "A Project goes before the installation that serves it has deleted its data, where its Secrets are gone already",
    file: "operator/secrets/secret-ownership.ts",
    find: "if (metadata.deletionTimestamp !== undefined) return settersOf(metadata);",
    replace: "",
    caughtBy: ["test/unit/operator/secrets/secret-store.test.ts"],
  },
  {
    name: "own-removal-counted-as-a-repair",
    harm: "A Project whose deletionPolicy was edited a few times is deleted while its finalizer still waits to be set",
    file: "operator/finalize/advance-deletions.ts",
    find: 'repairs.wrote(target, wanted ? text : "taken away");',
    replace: "if (wanted) repairs.wrote(target, text);",
    caughtBy: ["test/unit/operator/finalize/advance-deletions.test.ts"],
  },
];
