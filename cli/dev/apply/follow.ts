// Runs the operator's pass again whenever something may have changed or is due, one at a time.
// Changes during a pass cause one more. A pass that fails is reported and tried again; what is live
// is still served.

import type { Timers } from "../../../core/timers.ts";
import type { DevMessage } from "../report/messages.ts";
import { nextDueIn } from "../stored-data/pending-deletions.ts";
import type { DevOperator } from "./dev-operator.ts";
import { watchFolders } from "./watch-folder.ts";

export interface FollowOptions {
  readonly devOperator: DevOperator;
  /** Folders and files whose changes matter. */
  readonly paths: readonly string[];
  readonly say: (message: DevMessage) => void;
  readonly now: () => number;
  readonly timers: Timers;
}

export interface Following {
  /** Something has changed that is in no file. */
  wake(): void;
  /** Ends with the pass that is under way. */
  stop(): Promise<void>;
}

const retryMs = 1_000;

export function failedPassLine(error: unknown): string {
  const failure = error instanceof Error ? error.message : String(error);
  return `Failed to apply the change; still serving the previous version: ${failure}`;
}

/** Resolves once every change from before is live and every later one will be seen. */
export async function follow({ devOperator, paths, say, now, timers }: FollowOptions): Promise<Following> {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let stopTimer = (): void => undefined;
  let lastFailure = "";

  const wake = (): void => {
    if (stopped) return;
    stopTimer();
    again = true;
    running ??= passes().finally(() => {
      running = undefined;
    });
  };

  async function passes(): Promise<void> {
    while (again && !stopped) {
      again = false;
      await pass();
    }
  }

  async function pass(): Promise<void> {
    try {
      for (const message of await devOperator.reconcile()) say(message);
      lastFailure = "";
      const due = nextIn();
      if (due !== undefined) later(due);
    } catch (error) {
      const failure = failedPassLine(error);
      if (failure !== lastFailure) say({ text: failure });
      lastFailure = failure;
      later(retryMs);
    }
  }

  /** Milliseconds until there is something to do although nothing changes. */
  function nextIn(): number | undefined {
    const { known, nextAt } = devOperator.view();
    const waits = [nextDueIn(known, now()), nextAt && Math.max(0, nextAt - now())];
    const due = waits.filter((wait) => wait !== undefined);
    return due.length === 0 ? undefined : Math.min(...due);
  }

  function later(milliseconds: number): void {
    stopTimer();
    stopTimer = timers.after(milliseconds, wake);
  }

  const watching = watchFolders({ paths, onChange: wake });
  await watching.ready;
  // A file that was saved between the first pass and now sent its event to nobody.
  wake();
  await running;

  return {
    wake,
    async stop() {
      stopped = true;
      watching.stop();
      stopTimer();
      await running;
    },
  };
}
