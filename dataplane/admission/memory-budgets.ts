// Bounds what waits in memory, over all requests: bodies, from their arrival to the end of their write; responses that clients have not
// read; and requests that wait for an earlier one on their connection. Each has a budget, which follows from Node's heap limit, and so
// does the number of connections. A project has room for as many bytes as it would leave to all others: half of a budget when it is
// alone, a third when another one has as much. So no number of projects fills a budget.

import { getHeapStatistics } from "node:v8";

export interface MemoryLimits {
  readonly connections: number;
  /** Bytes of bodies. */
  readonly bodies: number;
  /** Bytes of responses. */
  readonly responses: number;
  /** Bytes of requests that wait for their turn on a connection. They are one share, which has half. */
  readonly pipelined: number;
}

/** What a connection needs that no budget counts. Measured: 24 KiB after a request, and twice that with a head of 31 KiB that does not end. */
const connectionBytes = 48 * 1024;

/**
 * Shares of the heap limit. Together they leave enough of the container's memory to the program itself, where the heap limit is 60 % of
 * it, as in the chart.
 */
export function memoryLimits(heapLimit = getHeapStatistics().heap_size_limit): MemoryLimits {
  return {
    connections: Math.floor(heapLimit / 2 / connectionBytes),
    bodies: heapLimit / 8,
    responses: heapLimit / 5,
    pipelined: heapLimit / 32,
  };
}

export interface MemoryBudget {
  /** The share of a project. */
  of(project: object): MemoryShare;
}

export interface MemoryShare {
  /** Counts them until they are released; false = there is no room, and nothing was counted. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

export function createMemoryBudget(limit: number): MemoryBudget {
  const byProject = new WeakMap<object, MemoryShare>();
  let heldByAll = 0;
  const share = (): MemoryShare => {
    let held = 0;
    return {
      take(bytes) {
        if (held + bytes > limit - heldByAll - bytes) return false;
        held += bytes;
        heldByAll += bytes;
        return true;
      },
      release(bytes) {
        held -= bytes;
        heldByAll -= bytes;
      },
    };
  };
  return {
    of(project) {
      const known = byProject.get(project);
      if (known !== undefined) return known;
      const made = share();
      byProject.set(project, made);
      return made;
    },
  };
}
