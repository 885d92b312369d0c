// What is soaked: an API server with the controller that ends namespaces, a Redis that loses nothing when it is killed, operators that
// are started again when they end, as their Deployment would, and two replicas.

import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";

export interface SoakWorld {
  readonly fleet: OwnFleet;
  /** Operators that run now. */
  operators(): readonly OperatorProcess[];
  startOperator(): Promise<OperatorProcess>;
  /** Ends one, and starts none in its place. */
  endOperator(operator: OperatorProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void>;
  /**
   * One after the other: deletions of namespaces, and restarts of the API server. The controller that deletes a namespace goes by what the API server says
   * it has; one that has just started has no custom resources for a moment, and those of the namespace are left without it.
   */
  oneAtATime<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

const heapReport = fileURLToPath(new URL("report-heap.ts", import.meta.url));
const nodeFlags = ["--expose-gc", "--import", heapReport];

export async function openWorld(): Promise<SoakWorld> {
  const fleet = await startFleet({
    operators: 0,
    replicas: 0,
    api: { controllers: ["namespace"] },
    redis: { args: ["--appendonly", "yes", "--appendfsync", "always"] },
    operatorArgs: ["--lease-duration", "5s", "--log-level", "warn"],
    replicaArgs: ["--log-level", "error"],
  });
  let running: OperatorProcess[] = [];
  let stopped = false;
  let last: Promise<unknown> = Promise.resolve();
  const startOperator = async (): Promise<OperatorProcess> => {
    const operator = await fleet.addOperator({ nodeFlags, untilReady: false });
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
    oneAtATime(work) {
      const mine = last.then(work);
      last = mine.catch(() => undefined);
      return mine;
    },
    async stop() {
      stopped = true;
      await fleet.stop();
    },
  };
}

/** Bytes of live objects in the operator's heap, after a collection of garbage. */
export async function heapOf(operator: OperatorProcess): Promise<number> {
  const reports = (): readonly string[] => operator.log().match(/"heapUsedBytes":\d+/g) ?? [];
  const before = reports().length;
  operator.signal("SIGUSR2");
  for (let look = 0; look < 200; look += 1) {
    const last = reports().at(-1);
    if (last !== undefined && reports().length > before) return Number(last.slice(last.indexOf(":") + 1));
    await sleep(50);
  }
  throw new Error("The operator doesn't say how much memory it uses");
}
