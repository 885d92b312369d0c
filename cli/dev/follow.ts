// Runs the cluster's pass again whenever something may have changed, one at a time: changes that come meanwhile make one more
// pass. A pass that fails says so and is tried again; what is live goes on being served.

import { nextDueIn } from "./bury.ts";
import type { Cluster } from "./cluster.ts";
import { watchFolders } from "./watch-folder.ts";

export interface FollowOptions {
  readonly cluster: Cluster;
  /** Folders and files whose changes matter. */
  readonly paths: readonly string[];
  readonly say: (line: string) => void;
  readonly now: () => number;
}

export interface Following {
  /** Ends with the pass that is under way. */
  stop(): Promise<void>;
}

const retryMs = 1_000;

/** Resolves once every change from before is live and every later one will be seen. */
export async function follow({ cluster, paths, say, now }: FollowOptions): Promise<Following> {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lastFailure = "";

  const wake = (): void => {
    if (stopped) return;
    clearTimeout(timer);
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
      for (const line of await cluster.reconcile()) say(line);
      lastFailure = "";
      const due = nextDueIn(cluster.view().known, now());
      if (due !== undefined) later(due);
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      if (failure !== lastFailure) say(`The change could not be taken over, what is live goes on: ${failure}`);
      lastFailure = failure;
      later(retryMs);
    }
  }

  function later(milliseconds: number): void {
    clearTimeout(timer);
    timer = setTimeout(wake, milliseconds);
  }

  const watching = watchFolders({ paths, onChange: wake });
  await watching.ready;
  // A file that was saved between the first pass and now sent its event to nobody.
  wake();
  await running;

  return {
    async stop() {
      stopped = true;
      watching.stop();
      clearTimeout(timer);
      await running;
    },
  };
}
