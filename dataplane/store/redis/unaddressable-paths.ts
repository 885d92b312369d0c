// Writes below keys that no path of Redis JSON can name. Those of one document are carried out in batches, because each would lose
// against the others, and all that wait for one container are carried out together: one after the other, each would read and write the
// whole of it anew, and hold its part of the project's share meanwhile. Refuses as container-changes.ts does.

import { setImmediate as eventLoopTurn } from "node:timers/promises";
import {
  type Change,
  type ChangeResult,
  type ContainerChange,
  type ContainerDeps,
  changeContainer,
  type UnaddressableWrite,
} from "./container-changes.ts";
import { addressableLength } from "./document-path.ts";

/** Writes that are carried out together. */
const maxTogether = 64;

export interface UnaddressablePaths {
  change<Outcome extends string>(write: UnaddressableWrite, change: Change<Outcome>): Promise<ChangeResult<Outcome>>;
  /**
   * Ends with the batch of a document that is under way, if one is. Writes by plain paths wait for that one and no other: each that
   * came in between would have the batch read and write anew.
   */
  pendingBatch(key: string): Promise<void> | undefined;
}

interface Waiting extends ContainerChange {
  readonly resolve: (result: ChangeResult<string>) => void;
  readonly reject: (error: unknown) => void;
}

type Batch = readonly [Waiting, ...Waiting[]];

export function createUnaddressablePaths(deps: ContainerDeps): UnaddressablePaths {
  // By the document's key, of those that are being written: what waits. Requests wait here that have a part of their project's share.
  const queues = new Map<string, Waiting[]>();

  const batches = new Map<string, Promise<void>>();

  const drain = async (key: string, queue: Waiting[]): Promise<void> => {
    for (let batch = nextBatch(queue); batch !== undefined; batch = nextBatch(queue)) {
      const ended = carryOut(deps, batch);
      batches.set(key, ended);
      await ended;
      batches.delete(key);
      // Writes by plain paths that waited are sent first, so none comes between the next reading and its write.
      await eventLoopTurn();
    }
    queues.delete(key);
  };

  const enqueue = (waiting: Waiting): void => {
    const key = waiting.write.keys.value;
    const queue = queues.get(key);
    if (queue !== undefined) {
      queue.push(waiting);
      return;
    }
    const begun = [waiting];
    queues.set(key, begun);
    void drain(key, begun);
  };

  return {
    pendingBatch: (key) => batches.get(key),
    change: <Outcome extends string>(write: UnaddressableWrite, change: Change<Outcome>) =>
      new Promise<ChangeResult<Outcome>>((resolve, reject) => {
        enqueue({ write, change, resolve: (result) => resolve(result as ChangeResult<Outcome>), reject });
      }),
  };
}

/** Takes those from the front that go together: in the order of arrival, so that nobody is passed by. */
function nextBatch(queue: Waiting[]): Batch | undefined {
  const [first, ...others] = queue;
  if (first === undefined) return undefined;
  const apart = others.findIndex((other) => !mayShareBatch(first.write, other.write));
  const together = others.slice(0, Math.min(apart < 0 ? others.length : apart, maxTogether - 1));
  queue.splice(0, 1 + together.length);
  return [first, ...together];
}

/** Those of one container; what counts its growth or leaves a record is a script's call of its own. */
function mayShareBatch(one: UnaddressableWrite, other: UnaddressableWrite): boolean {
  return isPlain(one) && isPlain(other) && containerName(one) === containerName(other);
}

function isPlain({ maxGrowth, record }: UnaddressableWrite): boolean {
  return maxGrowth === undefined && record === undefined;
}

function containerName({ path }: UnaddressableWrite): string {
  return JSON.stringify(path.slice(0, addressableLength(path)));
}

/** Settles each of them; never rejects. */
async function carryOut(deps: ContainerDeps, batch: Batch): Promise<void> {
  try {
    const results = await changeContainer(deps, batch);
    if (results === "apart") {
      for (const one of batch) await carryOut(deps, [one]);
      return;
    }
    for (const [n, result] of results.entries()) batch[n]?.resolve(result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
