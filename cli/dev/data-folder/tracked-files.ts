// Checks that the open files are still the ones at their paths. `rm -r`, `git clean` or a restored
// backup may remove, move or replace the folder. Writes would then go to files that nobody can
// find, or into somebody else's.

import { statSync } from "node:fs";
import { resolve } from "node:path";

export type Loss = "removed" | "replaced";

/** Something was to be written into a data folder that isn't there any more. */
export class DataFolderLost extends Error {
  override readonly name = "DataFolderLost";
}

export interface TrackedFiles {
  /**
   * From now on the file must stay. It must be open until the end: the system may give the number
   * of a deleted file to another one.
   */
  track(file: string): void;
  /** What happened to the first file that is not in its place. A lost folder stays lost. */
  loss(): Loss | undefined;
  /** Throws a DataFolderLost. */
  requireInPlace(): void;
}

export function trackFiles(path: string): TrackedFiles {
  const identities = new Map<string, string | undefined>();
  let known: Loss | undefined;
  const loss = (): Loss | undefined => {
    for (const [file, identity] of identities) known ??= lossOf(identity, identityOf(file));
    return known;
  };
  return {
    track(file) {
      // Where it is now, even if what is around the working directory is moved.
      const absolute = resolve(file);
      identities.set(absolute, identityOf(absolute));
    },
    loss,
    requireInPlace() {
      const found = loss();
      if (found !== undefined) throw new DataFolderLost(`The data folder ${path} was ${found}`);
    },
  };
}

function lossOf(before: string | undefined, now: string | undefined): Loss | undefined {
  if (now === before || now === unknown) return undefined;
  return now === undefined ? "removed" : "replaced";
}

/** A file that can't be read now, as on a network that is down, is not gone. */
const unknown = "unknown";

/** Undefined when there is no such file. */
function identityOf(file: string): string | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev}:${found.ino}`;
  } catch {
    return unknown;
  }
}

export interface DataFolderWatch {
  /** Resolves with the exit code once the folder is lost; never while it stays. */
  readonly ended: Promise<number>;
  stop(): void;
}

const pollMs = 500;

const advice: Readonly<Record<Loss, string>> = {
  removed: "Start again for a new one; to keep what was stored, put the folder back first",
  replaced: "Start again to use the one that is there now",
};

export function watchDataFolder(
  path: string,
  tracked: TrackedFiles,
  printError: (line: string) => void,
): DataFolderWatch {
  let polling: NodeJS.Timeout | undefined;
  const stop = (): void => clearInterval(polling);
  const ended = new Promise<number>((resolve) => {
    polling = setInterval(() => {
      const loss = tracked.loss();
      if (loss === undefined) return;
      stop();
      printError(`The data folder ${path} was ${loss} while it was in use. Nothing more is written. ${advice[loss]}`);
      resolve(1);
    }, pollMs);
  });
  return { ended, stop };
}
