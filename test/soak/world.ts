// What is soaked: an API server with the controller that ends namespaces, a Redis that loses
// nothing when it is killed, operators that are started again when they end, as their Deployment
// would, and two replicas.

import { setTimeout as sleep } from "node:timers/promises";
import { createKeyedMutex } from "../../core/keyed-mutex.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { reportingFlags } from "../support/fleet/memory-in-use.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";

export interface SoakWorld {
  readonly fleet: OwnFleet;
  /** Operators that run now. */
  operators(): readonly OperatorProcess[];
  startOperator(): Promise<OperatorProcess>;
  /** Ends one, and starts none in its place. */
  endOperator(operator: OperatorProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /**
   * One after the other: deletions of namespaces, and restarts of the API server. The controller
   * that deletes a namespace goes by what the API server says it has; one that has just started has
   * no custom resources for a moment, and those of the namespace are left without it.
   */
  oneAtATime<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export async function openWorld(): Promise<SoakWorld> {
  const fleet = await startFleet({
    operators: 0,
    replicas: 0,
    api: { controllers: ["namespace"] },
    redis: { args: ["--appendonly", "yes", "--appendfsync", "always"] },
    guardRails: { allowedHosts: "", adoptData: "Allow" },
    operatorArgs: ["--lease-duration", "5s", "--log-level", "warn"],
    replicaArgs: ["--log-level", "error"],
  });
  let running: OperatorProcess[] = [];
  let stopped = false;
  const mutex = createKeyedMutex();
  const startOperator = async (): Promise<OperatorProcess> => {
    const operator = await fleet.addOperator({ nodeFlags: reportingFlags, untilReady: false });
    running.push(operator);
    void operator.ended().then(async () => {
      const isExpected = !running.includes(operator);
      running = running.filter((each) => each !== operator);
      if (isExpected || stopped) return;
      // One that can't come to lead any more ends, and its container starts again.
      await sleep(1_000);
      if (!stopped) await startOperator();
    });
    return operator;
  };
  try {
    await startOperator();
    for (let replica = 0; replica < 2; replica += 1) await fleet.addReplica();
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  return {
    fleet,
    operators: () => [...running],
    startOperator,
    async endOperator(operator, signal) {
      running = running.filter((each) => each !== operator);
      await operator.stop(signal);
    },
    oneAtATime: (work) => mutex.run("API server", work),
    async stop() {
      stopped = true;
      await fleet.stop();
    },
  };
}
