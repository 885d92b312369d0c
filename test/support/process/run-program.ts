// Runs a command of the program to its end, as a person would, and hands over what it said.

import { runCommand } from "../../../tools/parts/run-command.ts";
import { programFile } from "../fleet/program-process.ts";

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

export async function runProgram(words: readonly string[]): Promise<Ran> {
  const { code, stdout, stderr } = await runCommand(process.execPath, [programFile, ...words]);
  return { code, out: stdout, error: stderr };
}
