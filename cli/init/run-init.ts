// `jsonplane init [DIR]`: writes one commented file of manifests, with a Project named after the folder, and says how to serve it. Refuses a folder with anything in it, so that
// nothing of anybody's is overwritten, or served beside what is written here.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { programWord, shellWord } from "../shell-words.ts";
import { entriesIn } from "./entries-in.ts";
import { projectNameFor, renamedTemplate } from "./project-name.ts";

const fileName = "project.yaml";
const template = fileURLToPath(new URL(fileName, import.meta.url));

export interface InitOutput {
  readonly out: (line: string) => void;
  readonly error: (line: string) => void;
}

/** Exit code: 0 when the file was written, 1 otherwise. */
export async function runInit(folder: string, { out, error }: InitOutput): Promise<number> {
  const refusal = await writeProject(folder);
  if (refusal !== undefined) {
    error(refusal);
    return 1;
  }
  out(`${join(folder, fileName)} has a Project with a resource, a login, an API key and a JSON document. To serve it:`);
  out("");
  out(`  ${programWord()} dev ${shellWord(folder)}`);
  return 0;
}

/** What is wrong and what to do, if it can't be written. */
async function writeProject(folder: string): Promise<string | undefined> {
  try {
    await mkdir(folder, { recursive: true });
    const [first] = await entriesIn(folder);
    if (first !== undefined) return occupied(folder, first);
    const text = renamedTemplate(await readFile(template, "utf8"), projectNameFor(folder));
    await writeFile(join(folder, fileName), text, { flag: "wx" });
    return undefined;
  } catch (failure) {
    const { code, message } = failure as NodeJS.ErrnoException;
    if (code === undefined) throw failure;
    if (code === "EEXIST" || code === "ENOTDIR") return `${folder} is not a folder: name another one`;
    return `${folder} can't be written to (${message}): name another folder`;
  }
}

function occupied(folder: string, entry: string): string {
  const [program, word] = [programWord(), shellWord(folder)];
  return `${folder} is not empty (${entry} is in it), and nothing was written: name a new folder with ${program} init DIR, or serve what is in this one with ${program} dev ${word}`;
}
