// Faults of what the operator does when something around it is broken or on its way out: records and acknowledgements that can't be read,
// a Redis that is away, namespaces that it doesn't watch or that are going.

import type { Mutation } from "../mutation.ts";

export const operatorFaultMutations: readonly Mutation[] = [
  {
    name: "one-unreadable-record-holds-up-all",
    harm: "One broken record of data keeps the operator from publishing and withdrawing anything of anybody",
    file: "operator/publish/data-records.ts",
    find: "if (record !== undefined) page.set(key, record);",
    replace: "if (record === undefined) throw new RecordUnreadable(key); page.set(key, record);",
    caughtBy: ["test/store/publisher-load.test.ts"],
  },
  {
    name: "every-project-opens-redis",
    harm: "While Redis is away at the start, ten thousand Projects open more than a hundred connections a second",
    file: "operator/publish/config-writer.ts",
    find: "if (refusal !== undefined && !isDue && monotonic() < refusal.until) throw refusal.error;",
    replace: "",
    caughtBy: ["test/unit/operator/publish/config-writer.test.ts", "test/unit/operator/runtime/maintenance.test.ts"],
  },
  {
    name: "one-acknowledgement-holds-up-all",
    harm: "A replica whose acknowledgement is malformed keeps every change from being Ready",
    file: "operator/publish/replicas.ts",
    find: "unreadable.push(field);",
    replace: "throw new Error(field);",
    caughtBy: ["test/store/acknowledgements.test.ts"],
  },
  {
    name: "unread-acknowledgements-go-unsaid",
    harm: "Where the operator's Redis user may not read acknowledgements, everything waits for replicas, and no log says why",
    file: "operator/runtime/leader-session.ts",
    find: "observeLook: createAcknowledgementLog(logger, monotonic),",
    replace: "observeLook: () => undefined,",
    caughtBy: ["test/operator/first-hour.test.ts"],
  },
  {
    name: "hosts-of-unwatched-namespaces-given-away",
    harm: "A host that is served in a namespace which is not watched any more is served to another Project's users",
    file: "operator/runtime/host-registry.ts",
    find: "holders.publish(ref, { uid: uid ?? unseenHolder, hosts });",
    replace: "if (uid !== undefined && uid !== unseenHolder) holders.publish(ref, { uid, hosts });",
    caughtBy: ["test/unit/operator/runtime/host-registry.test.ts", "test/unit/operator/compile/host-claims.test.ts"],
  },
  {
    name: "going-namespace-tried-without-pause",
    harm: "A namespace that hangs in Terminating costs requests to the API server many times a second, for as long as it hangs",
    file: "operator/queue/workers.ts",
    find: 'if (result?.requeue === "backoff") {\n    queue.retry(key);',
    replace: 'if (result?.requeue === "backoff") {\n    queue.addAfter(key, 50);',
    caughtBy: ["test/unit/operator/queue/workers.test.ts"],
  },
  {
    name: "going-namespace-counts-as-a-failure",
    harm: "A namespace that hangs in Terminating keeps the operator from saying that everything is published",
    file: "operator/runtime/process-key.ts",
    find: "if (error instanceof NamespaceTerminating) {",
    replace: 'if (error instanceof NamespaceTerminating && key === "") {',
    caughtBy: ["test/unit/operator/runtime/process-key.test.ts"],
  },
];
