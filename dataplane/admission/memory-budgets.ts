// Bounds what waits in memory: bodies until their write ends, responses that clients have not read,
// and requests behind an earlier one on their connection. The budgets and the number of connections
// follow from Node's heap limit. A project may use as many bytes as it leaves to all others: half
// of a budget alone, a third beside an equal one. So no number of projects fills a budget.

import { getHeapStatistics } from "node:v8";

export interface MemoryLimits {
  readonly connections: number;
  /** Bytes of bodies. */
  readonly bodies: number;
  /** Bytes of responses. */
  readonly responses: number;
  /** Bytes of requests that wait for an earlier one on their connection, as one share. */
  readonly pipelined: number;
}

/** What else a connection needs: 24 KiB, and twice that with an unfinished head (measured). */
const connectionBytes = 48 * 1024;

/** Shares of the heap limit, which the chart sets to 60 % of the container's memory. */
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
  let usedByAll = 0;
  const share = (): MemoryShare => {
    let used = 0;
    return {
      take(bytes) {
        if (used + bytes > limit - usedByAll - bytes) return false;
        used += bytes;
        usedByAll += bytes;
        return true;
      },
      release(bytes) {
        used -= bytes;
        usedByAll -= bytes;
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
