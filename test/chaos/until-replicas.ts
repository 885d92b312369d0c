// Waits until replicas have acknowledged something, as the operator waits for them.

import { liveReplicas, type ReplicaState } from "../../operator/publish/replicas.ts";
import { eventually } from "../support/time/eventually.ts";
import type { Stage } from "./scenario.ts";
import type { WorldReplica } from "./world-replica.ts";

/** All of the world by default. */
export async function untilAllReplicas(
  { world }: Stage,
  holds: (state: ReplicaState) => boolean,
  replicas: readonly WorldReplica[] = world.replicas,
): Promise<void> {
  await eventually(
    async () => {
      const states = new Map((await liveReplicas(world.config.redisClient)).map((state) => [state.replica, state]));
      const behind = replicas.filter(({ name }) => {
        const state = states.get(name);
        return state === undefined || !holds(state);
      });
      if (behind.length > 0) throw new Error(`Not yet: ${behind.map(({ name }) => name).join(", ")}`);
    },
    { withinMs: 30_000, everyMs: 100 },
  );
}
