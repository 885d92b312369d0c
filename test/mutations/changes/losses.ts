// Faults of what is noticed and said when service or stored data are lost.

import type { Mutation } from "../mutation.ts";

export const lossMutations: readonly Mutation[] = [
  {
    name: "emptied-redis-taken-for-the-store",
    harm: "An operator gives an emptied Redis its former id, and an empty store is served as if it were all there is",
    file: "operator/publish/scripts/begin-1.lua",
    find: 'if is_other and policy == "refuse" then',
    replace: 'if is_other and policy == "refuse" and held then',
    caughtBy: ["test/store/store-identity.test.ts"],
  },
  {
    name: "loss-accepted-for-ever",
    harm: "An annotation that accepted one loss of data accepts every later one",
    file: "operator/publish/store-identity.ts",
    find: "loss: randomUUID().slice(0, 8)",
    replace: 'loss: "lost"',
    caughtBy: ["test/store/store-identity.test.ts"],
  },
  {
    name: "replica-waits-for-the-operator-to-find-a-loss",
    harm: "While no operator runs, replicas serve an emptied Redis as an empty store, and take writes",
    file: "dataplane/config/watch-store.ts",
    find: "return isGuarded ? {} : undefined;",
    replace: "return loss;",
    caughtBy: ["test/process/lost-data.test.ts"],
  },
  {
    name: "accepted-loss-covers-the-next",
    harm: "A Project that accepted a loss is served from a Redis that was emptied again, until the operator finds the next loss",
    file: "dataplane/config/watch-store.ts",
    find: "return isGuarded ? {} : undefined;",
    replace: "return isGuarded ? (loss ?? {}) : undefined;",
    caughtBy: ["test/process/lost-data.test.ts"],
  },
  {
    name: "slow-body-written-after-a-loss",
    harm: "A write whose body was on its way when Redis was emptied is stored there, and confirmed, half a minute after the loss is known",
    file: "dataplane/act/work.ts",
    find: "    demandData(deps.directory, act.place.project);\n",
    replace: "",
    caughtBy: ["test/process/lost-data.test.ts"],
  },
  {
    name: "accepted-loss-goes-unsaid",
    harm: "Somebody gives up the stored data of a Project, and no log says so",
    file: "operator/finalize/data-acts.ts",
    find: "if (before?.project.acceptedDataLoss === loss) return [];",
    replace: "return [];",
    caughtBy: ["test/operator/data-lost.test.ts"],
  },
  {
    name: "last-replica-goes-unsaid",
    harm: "Projects say that they are available although the last replica has gone",
    file: "operator/wakeups.ts",
    find: "if (liveness !== alive) for",
    replace: "if (liveness !== alive && false) for",
    caughtBy: ["test/unit/operator/wakeups.test.ts"],
  },
  {
    name: "old-look-says-available",
    harm: "Projects say that they are available for as long as Redis is away",
    file: "operator/publish/last-look.ts",
    find: "> liveMs ? undefined : this.#replicas",
    replace: "> liveMs ? this.#replicas : this.#replicas",
    caughtBy: ["test/store/acknowledgements.test.ts"],
  },
  {
    name: "end-of-what-signed-a-certificate-goes-unsaid",
    harm: "Nobody is told that the authority which signed Redis' certificate is about to end",
    file: "core/redis/primaries.ts",
    find: "Math.min(...ends)",
    replace: "ends[0]",
    caughtBy: ["test/store/redis-tls.test.ts"],
  },
];
