// Ends dev mode when its data folder is removed or replaced: what was stored can't be written any more, and going on would only pretend.

import type { DataFolder } from "./data-folder.ts";
import type { Loss } from "./held-files.ts";

export interface DataFolderWatch {
  /** Resolves with the exit code once the folder is lost; never while it stays. */
  readonly ended: Promise<number>;
  stop(): void;
}

const lookEveryMs = 500;

const advice: Readonly<Record<Loss, string>> = {
  removed: "Start again for a new one; to keep what was stored, put the folder back first",
  replaced: "Start again to use the one that is there now",
};

export function watchDataFolder(
  { path, held }: Pick<DataFolder, "path" | "held">,
  printError: (line: string) => void,
): DataFolderWatch {
  let looking: NodeJS.Timeout | undefined;
  const stop = (): void => clearInterval(looking);
  const ended = new Promise<number>((resolve) => {
    looking = setInterval(() => {
      const loss = held.loss();
      if (loss === undefined) return;
      stop();
      printError(`The data folder ${path} was ${loss} while it was in use. Nothing more is written. ${advice[loss]}`);
      resolve(1);
    }, lookEveryMs);
  });
  return { ended, stop };
}
