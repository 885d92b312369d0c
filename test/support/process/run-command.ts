// Runs a command of the program to its end, as a person would, and hands over what it said.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { programFile } from "../fleet/program-process.ts";

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export async function runCommand(words: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, [programFile, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, error] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    error += chunk.toString();
  });
  await once(child, "close");
  return { code: child.exitCode, out, error };
}
