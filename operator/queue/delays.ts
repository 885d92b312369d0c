// Keys that are due later: one entry per key, the earliest moment wins, and one timer waits for the first of all.

import type { Monotonic, Timers } from "../../core/timers.ts";
import type { Lane } from "./lanes.ts";

export interface Delays {
  put(key: string, milliseconds: number, lane: Lane): void;
  has(key: string): boolean;
  size(): number;
  clear(): void;
}

interface Due {
  readonly key: string;
  readonly at: number;
  readonly lane: Lane;
}

const minLeftovers = 1_000;

export interface DelayOptions {
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  readonly due: (key: string, lane: Lane) => void;
}

export function createDelays({ timers, monotonic, due }: DelayOptions): Delays {
  const byKey = new Map<string, Due>();
  /** A binary heap by moment. Entries that an earlier one has replaced stay in it until they come to the top. */
  const heap: Due[] = [];
  let stopTimer: (() => void) | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  const fire = (): void => {
    stopTimer = undefined;
    timerAt = Number.POSITIVE_INFINITY;
    const now = monotonic();
    for (let first = heap[0]; first !== undefined && first.at <= now; first = heap[0]) {
      removeFirst(heap);
      if (byKey.get(first.key) !== first) continue;
      byKey.delete(first.key);
      due(first.key, first.lane);
    }
    wait();
  };

  const wait = (): void => {
    const first = heap[0];
    if (first === undefined || first.at >= timerAt) return;
    stopTimer?.();
    timerAt = first.at;
    stopTimer = timers.after(first.at - monotonic(), fire);
  };

  return {
    put(key, milliseconds, lane) {
      const at = monotonic() + milliseconds;
      const before = byKey.get(key);
      if (before !== undefined && before.at <= at) {
        // Whoever asked for the better lane gets it, at the earlier moment.
        if (before.lane === "live" || lane === "bulk") return;
        replace({ ...before, lane });
      } else replace({ key, at, lane: before?.lane === "live" ? "live" : lane });
      wait();
    },
    has: (key) => byKey.has(key),
    size: () => byKey.size,
    clear() {
      stopTimer?.();
      stopTimer = undefined;
      timerAt = Number.POSITIVE_INFINITY;
      byKey.clear();
      heap.length = 0;
    },
  };

  function replace(entry: Due): void {
    byKey.set(entry.key, entry);
    insert(heap, entry);
    if (heap.length < 2 * byKey.size + minLeftovers) return;
    // A moment that is a year off would stay for a year after an earlier one replaced it. What is sorted is a heap.
    heap.length = 0;
    for (const kept of [...byKey.values()].sort((one, other) => one.at - other.at)) heap.push(kept);
  }
}

function insert(heap: Due[], entry: Due): void {
  let place = heap.length;
  heap.push(entry);
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.at <= entry.at) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = entry;
}

function removeFirst(heap: Due[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (let below = smallerChild(heap, place); below !== undefined; below = smallerChild(heap, place)) {
    const child = heap[below];
    if (child === undefined || child.at >= last.at) break;
    heap[place] = child;
    place = below;
  }
  heap[place] = last;
}

function smallerChild(heap: readonly Due[], place: number): number | undefined {
  const left = heap[2 * place + 1];
  const right = heap[2 * place + 2];
  if (left === undefined) return undefined;
  return right !== undefined && right.at < left.at ? 2 * place + 2 : 2 * place + 1;
}
