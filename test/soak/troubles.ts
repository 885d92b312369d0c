// What goes wrong during a soak, one thing after the other: operators that are killed, stopped,
// paused and replaced; a Redis and an API server that are killed or hang.

import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../chaos/random.ts";
import type { OwnFleet } from "../support/fleet/fleet.ts";
import { customResources } from "../support/kubernetes/api-server/api-server-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import type { SoakWorld } from "./world.ts";

export interface TroubleOptions {
  readonly world: SoakWorld;
  readonly random: Random;
  /** Called before each trouble. */
  readonly onTrouble: (name: string) => void;
  readonly stopped: () => boolean;
  /**
   * While it answers true, no operator is stopped or paused, so that the memory of the leader can
   * be measured at the end.
   */
  readonly sparesOperators: () => boolean;
}

interface Trouble {
  readonly name: string;
  readonly ofOperator: boolean;
  make(world: SoakWorld, seconds: number): Promise<void>;
}

const betweenMs = { from: 5_000, to: 20_000 };

const troubles: readonly Trouble[] = [
  {
    name: "operator killed",
    ofOperator: true,
    async make(world, seconds) {
      for (const operator of world.operators()) await world.endOperator(operator, "SIGKILL");
      await sleep(seconds * 1_000);
      await world.startOperator();
    },
  },
  {
    name: "operator stopped",
    ofOperator: true,
    async make(world) {
      for (const operator of world.operators()) await world.endOperator(operator, "SIGTERM");
      await world.startOperator();
    },
  },
  {
    name: "leader killed beside a standby",
    ofOperator: true,
    async make(world, seconds) {
      const before = world.operators();
      await world.startOperator();
      await sleep(5_000 + seconds * 1_000);
      for (const operator of before) await world.endOperator(operator, "SIGKILL");
    },
  },
  {
    name: "operator paused",
    ofOperator: true,
    async make(world, seconds) {
      const paused = world.operators();
      for (const operator of paused) operator.signal("SIGSTOP");
      await sleep(seconds * 1_000);
      for (const operator of paused) operator.signal("SIGCONT");
    },
  },
  {
    name: "Redis killed",
    ofOperator: false,
    async make({ fleet }, seconds) {
      await fleet.redis.kill();
      await sleep(seconds * 1_000);
      await fleet.redis.restart();
    },
  },
  {
    name: "Redis paused",
    ofOperator: false,
    async make({ fleet }, seconds) {
      await fleet.redis.kill("SIGSTOP");
      await sleep(seconds * 1_000);
      await fleet.redis.kill("SIGCONT");
    },
  },
  {
    name: "API server killed",
    ofOperator: false,
    make: ({ fleet, oneAtATime }, seconds) =>
      oneAtATime(async () => {
        await fleet.api.kill9ApiServer();
        await sleep(seconds * 1_000);
        await restarted(fleet);
      }),
  },
  {
    name: "API server paused",
    ofOperator: false,
    async make({ fleet }, seconds) {
      fleet.api.pauseApiServer();
      await sleep(seconds * 1_000);
      fleet.api.resumeApiServer();
    },
  },
  {
    name: "API server's history compacted",
    ofOperator: false,
    make: ({ fleet, oneAtATime }) =>
      oneAtATime(async () => {
        await fleet.api.compactEtcd();
        await restarted(fleet);
      }),
  },
];

/** Resolves once it serves the custom resources again. */
async function restarted({ api }: OwnFleet): Promise<void> {
  await api.restartApiServer();
  await eventually(async () => void (await customResources(api, "default")), { withinMs: 60_000 });
}

/** Ends once `stopped` says so, with everything running again. */
export async function makeTrouble({ world, random, ...options }: TroubleOptions): Promise<void> {
  while (!options.stopped()) {
    const end = Date.now() + betweenMs.from + random.fraction() * (betweenMs.to - betweenMs.from);
    while (!options.stopped() && Date.now() < end) await sleep(200);
    if (options.stopped()) return;
    const possible = troubles.filter(({ ofOperator }) => !(ofOperator && options.sparesOperators()));
    const trouble = random.pick(possible);
    options.onTrouble(trouble.name);
    await trouble.make(world, random.whole(8));
  }
}
