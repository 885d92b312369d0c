// Memory for what clients have not read of their streams. The streams of a project share a part of
// it. Where that is full they take turns, and those whose clients read nothing are closed sooner.

import type { MemoryBudget } from "../admission/memory-budgets.ts";

export interface UnreadRoom {
  /** Waits until there is room, or `signal` is aborted. */
  take(project: object, bytes: number, signal: AbortSignal): Promise<Release>;
  /** Whether streams of the project wait for room. */
  isShort(project: object): boolean;
}

/** Gives room back, all but `kept` bytes of it. */
export type Release = (kept?: number) => void;

/** Where a project has no room, a larger batch counts as this many, or it might never fit. */
export const mostBytes = 1024 * 1024;

export function createUnreadRoom(budget: MemoryBudget): UnreadRoom {
  const waiting = new Map<object, Set<() => void>>();
  /** Bytes that are taken, by project. */
  const taken = new WeakMap<object, number>();

  /** Any project may have room after each release. */
  const tryAgain = (): void => {
    for (const calls of [...waiting.values()]) for (const call of [...calls]) call();
  };

  return {
    isShort: (project) => waiting.has(project),
    take(project, wanted, signal) {
      const share = budget.of(project);
      let held = 0;
      const add = (bytes: number): void => {
        held += bytes;
        taken.set(project, (taken.get(project) ?? 0) + bytes);
      };
      const isTaken = (): boolean => {
        const hasNone = (taken.get(project) ?? 0) === 0;
        const bytes = [wanted, ...(hasNone ? [Math.min(wanted, mostBytes)] : [])].find((each) => share.take(each));
        if (bytes === undefined) return false;
        add(bytes);
        return true;
      };
      const release: Release = (kept = 0) => {
        if (kept >= held) return;
        share.release(held - kept);
        add(kept - held);
        tryAgain();
      };
      if (isTaken() || signal.aborted) return Promise.resolve(release);
      return new Promise((resolve) => {
        const calls = waiting.get(project) ?? new Set();
        const end = (): void => {
          calls.delete(call);
          if (calls.size === 0 && waiting.get(project) === calls) waiting.delete(project);
          signal.removeEventListener("abort", end);
          resolve(release);
        };
        const call = (): void => {
          if (isTaken()) end();
        };
        waiting.set(project, calls.add(call));
        signal.addEventListener("abort", end);
      });
    },
  };
}
