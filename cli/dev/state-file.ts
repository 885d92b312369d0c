// Keeps the state of dev mode over restarts, in one file that holds no secrets. Refuses a file that it can't read rather than
// giving every object a new identity.

import { readFile } from "node:fs/promises";
import { parseJson } from "../../core/json/parse-json.ts";
import { StartRefused } from "../start-refused.ts";
import { type DevState, emptyState, type KnownObject, type PendingDeletion } from "./dev-state.ts";
import { writeAtomically } from "./write-atomically.ts";

const formatVersion = 1;

interface StoredState {
  readonly version: number;
  readonly objects: Readonly<Record<string, KnownObject>>;
  readonly pendingDeletions: readonly PendingDeletion[];
}

export interface StateFile {
  read(): Promise<DevState>;
  /** Writes only what differs from what was read or written last. */
  write(state: DevState): Promise<void>;
}

/** `requireInPlace` is called before anything is written, and throws when the folder isn't the one that was read. */
export function createStateFile(file: string, requireInPlace = (): void => undefined): StateFile {
  let last: string | undefined;
  return {
    async read() {
      last = await textOf(file);
      return last === undefined ? emptyState : stateOf(last, file);
    },
    async write({ objects, pendingDeletions }) {
      const state: StoredState = {
        version: formatVersion,
        objects: Object.fromEntries(objects),
        pendingDeletions,
      };
      const text = `${JSON.stringify(state)}\n`;
      if (text === last) return;
      requireInPlace();
      await writeAtomically(file, text);
      last = text;
    },
  };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function stateOf(text: string, file: string): DevState {
  const state = parsed(text, file);
  if (state.version !== formatVersion) {
    throw new StartRefused(
      `${file} was written by another version of jsonplane: use that one, or another folder with --data`,
    );
  }
  return { objects: new Map(Object.entries(state.objects)), pendingDeletions: state.pendingDeletions };
}

function parsed(text: string, file: string): StoredState {
  try {
    return parseJson(text) as StoredState;
  } catch (cause) {
    throw new StartRefused(`${file} is damaged: restore it, or choose another folder with --data`, { cause });
  }
}
