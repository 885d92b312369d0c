// Starts the benchmark's servers as processes of their own, each of which prints one line of JSON once it can be asked.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface BenchServer<T> {
  /** What the server printed. */
  readonly says: T;
  readonly pid: number;
  stop(): Promise<void>;
}

/** `file` stands beside this one. */
export async function startServer<T>(file: string, args: readonly string[]): Promise<BenchServer<T>> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const stopAtExit = () => void child.kill("SIGKILL");
  process.once("exit", stopAtExit);
  const line = await firstLine(child, file);
  return {
    says: JSON.parse(line) as T,
    pid: child.pid ?? 0,
    async stop() {
      process.off("exit", stopAtExit);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function firstLine(child: ChildProcess, name: string): Promise<string> {
  if (!child.stdout) throw new Error(`${name} has no standard output`);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`${name} ended before it was ready`);
}
