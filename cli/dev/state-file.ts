// Keeps what dev mode knows of objects over restarts, in one file that holds no secrets. Refuses a file that it can't read
// rather than giving every object a new identity.

import { readFile } from "node:fs/promises";
import { StartRefused } from "../start-refused.ts";
import type { Grave, Knowledge, KnownObject } from "./dev-state.ts";
import { nothingKnown } from "./dev-state.ts";
import { writeWhole } from "./write-atomically.ts";

const formatVersion = 1;

interface StateFile {
  readonly version: number;
  readonly objects: Readonly<Record<string, KnownObject>>;
  readonly graves: readonly Grave[];
}

export interface KnowledgeFile {
  read(): Promise<Knowledge>;
  /** Writes only what differs from what was read or written last. */
  write(knowledge: Knowledge): Promise<void>;
}

export function createKnowledgeFile(file: string): KnowledgeFile {
  let last: string | undefined;
  return {
    async read() {
      last = await textOf(file);
      return last === undefined ? nothingKnown : knowledgeOf(last, file);
    },
    async write({ objects, graves }) {
      const state: StateFile = { version: formatVersion, objects: Object.fromEntries(objects), graves };
      const text = `${JSON.stringify(state)}\n`;
      if (text === last) return;
      await writeWhole(file, text);
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

function knowledgeOf(text: string, file: string): Knowledge {
  const state = parsed(text, file);
  if (state.version !== formatVersion) {
    throw new StartRefused(
      `${file} was written by another version of jsonplane: use that one, or another folder with --data`,
    );
  }
  return { objects: new Map(Object.entries(state.objects)), graves: state.graves };
}

function parsed(text: string, file: string): StateFile {
  try {
    return JSON.parse(text) as StateFile;
  } catch (cause) {
    throw new StartRefused(`${file} is damaged: restore it, or choose another folder with --data`, { cause });
  }
}
