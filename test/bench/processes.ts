// Starts the benchmark's servers as processes of their own. Each prints one line of JSON once it
// listens, then answers one question: repeat-request.ts with its counts, plane-server.ts with the
// longest stop of its event loop.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface BenchServer<T> {
  /** What the server printed. */
  readonly says: T;
  readonly pid: number;
  /** One question at a time. */
  ask(): Promise<unknown>;
  stop(): Promise<void>;
}

/** `file` is a path of this folder, or an absolute one. `env` is added to that of this process. */
export async function startServer<T>(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<BenchServer<T>> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: { ...process.env, ...env },
  });
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  return {
    says: JSON.parse(await firstLine(child, file)) as T,
    pid: child.pid ?? 0,
    async ask() {
      const answered = once(child, "message");
      child.send("question");
      const [answer] = await answered;
      return answer;
    },
    async stop() {
      process.off("exit", kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      kill();
      await gone;
    },
  };
}

/** Called by a server. It ends with the process that started it. */
export function answerQuestion(answer: () => unknown): void {
  process.on("message", async () => process.send?.(await answer()));
  process.once("disconnect", () => process.exit());
}

async function firstLine({ stdout }: ChildProcess, name: string): Promise<string> {
  if (stdout) for await (const line of createInterface({ input: stdout })) return line;
  throw new Error(`${name} ended before it listened`);
}
