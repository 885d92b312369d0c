// Runs `jsonplane erase`: asks on a terminal before it deletes, and deletes nothing without --yes
// where there is none. Exit code 1 where the server refuses, or objects are left.

import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openPart, type PartFile } from "../export/part-file.ts";
import { type Cleanup, runProgram } from "../run-program.ts";
import { type CredentialFiles, credentialFrom } from "../service/credential.ts";
import { fetch } from "../service/fetch.ts";
import { note } from "../service/notes.ts";
import { serviceProgram } from "../service/refusal.ts";
import { baseUrlOf, createService, ServiceRefused } from "../service/service.ts";
import { erase } from "./erase.ts";

export interface EraseSettings extends CredentialFiles {
  /** `<creator_type>:<creator>`. */
  readonly owner: string;
  readonly exportFile: string | undefined;
  readonly yes: boolean;
}

export async function runErase(text: string, settings: EraseSettings): Promise<number> {
  return await runProgram({ ...serviceProgram, endsByItself: true }, async (cleanup) => {
    const { stopping: signal } = cleanup;
    const base = baseUrlOf(text);
    const { owner } = settings;
    const service = createService({ fetch, authorization: credentialFrom(settings), signal });
    const file = settings.exportFile === undefined ? undefined : await newFile(settings.exportFile, cleanup);
    const out = (line: string): void => void process.stdout.write(`${line}\n`);
    const confirmed = async (question: string) => (settings.yes ? true : await ask(question, signal));
    const pause = (milliseconds: number) => sleep(milliseconds, undefined, { signal });
    return { ended: erase({ service, out, file, confirmed, pause, note, signal }, { base, owner }) };
  });
}

/** Never in the place of another: an erasure that is run again finds less. */
async function newFile(path: string, cleanup: Cleanup): Promise<Pick<PartFile, "write" | "complete">> {
  if (existsSync(path)) throw new ServiceRefused(`--export ${path} exists already; name another file`);
  const part = await openPart(path);
  let isComplete = false;
  cleanup.add(async () => {
    if (!isComplete) await part.discard();
  });
  return {
    write: part.write,
    async complete() {
      await part.complete();
      isComplete = true;
    },
  };
}

/** Undefined where nobody sits at a terminal. */
async function ask(question: string, signal: AbortSignal): Promise<boolean | undefined> {
  const { stdin: input, stdout: output } = process;
  if (!input.isTTY || !output.isTTY) return undefined;
  const terminal = createInterface({ input, output });
  try {
    return (await terminal.question(`${question}? [y/N] `, { signal })).trim().toLowerCase() === "y";
  } catch {
    // Ctrl-C or Ctrl-D.
    output.write("\n");
    return false;
  } finally {
    terminal.close();
  }
}
