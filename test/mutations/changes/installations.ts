// Faults between installations: whose a Project, a finalizer or a status is, and what one says of another.

import type { Mutation } from "../mutation.ts";

export const installationMutations: readonly Mutation[] = [
  {
    name: "older-operator-writes-over-a-newer-format",
    harm: "After a rollback an operator writes over records that it can't read",
    file: "operator/publish/publisher.ts",
    find: "if (found !== undefined && found > format) throw new WrittenByNewerVersion(found, format);",
    replace: "",
    caughtBy: ["test/store/publisher-formats.test.ts"],
  },
  {
    name: "newer-format-before-its-readers",
    harm: "During an upgrade an operator publishes what the replicas that run can't read",
    file: "operator/publish/publisher.ts",
    find: "(replica) => replica.format < format",
    replace: "(replica) => replica.format < format && false",
    caughtBy: ["test/store/publisher-formats.test.ts"],
  },
  {
    name: "heartbeat-without-a-format-reads-all",
    harm: "Replicas whose heartbeats name no format count as able to read every format",
    file: "operator/publish/replicas.ts",
    find: "readFormat(format) ?? 0",
    replace: "readFormat(format) ?? 99",
    caughtBy: ["test/store/publisher-formats.test.ts"],
  },
  {
    name: "unreadable-format-taken-for-an-old-one",
    harm: "An operator writes over what a program with another way to write formats has left",
    file: "core/config/fields.ts",
    find: "Number(text) : Number.POSITIVE_INFINITY",
    replace: "Number(text) : 0",
    caughtBy: ["test/store/publisher-formats.test.ts"],
  },
  {
    name: "emptied-redis-waits-for-old-replicas",
    harm: "When Redis is emptied during an upgrade, new replicas wait for the operator, and the operator for the old ones that they replace",
    file: "operator/publish/publisher.ts",
    find: "if (found === undefined || found === format) return;",
    replace: "if (found === format) return;",
    caughtBy: ["test/store/publisher-formats.test.ts"],
  },
  {
    name: "purge-of-a-newer-version-carried-out",
    harm: "A replica purges more than a newer operator has ordered",
    file: "dataplane/config/carry-out-purges.ts",
    find: "orders.size === 0 || (await isOfNewerVersion(redisClient))",
    replace: "orders.size === 0",
    caughtBy: ["test/store/purge-failures.test.ts"],
  },
];
