// Starts the benchmark's servers as processes of their own, each of which prints one line of JSON once it can be asked.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Question } from "./asked.ts";

export interface BenchServer<T> {
  /** What the server printed. */
  readonly says: T;
  readonly pid: number;
  /** Only of servers that answer (asked.ts). */
  ask(question: Question["ask"]): Promise<unknown>;
  stop(): Promise<void>;
}

/** `file` stands beside this one. */
export async function startServer<T>(file: string, args: readonly string[]): Promise<BenchServer<T>> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  const stopAtExit = () => void child.kill("SIGKILL");
  process.once("exit", stopAtExit);
  const line = await firstLine(child, file);
  return {
    says: JSON.parse(line) as T,
    pid: child.pid ?? 0,
    ask: asking(child, file),
    async stop() {
      process.off("exit", stopAtExit);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

function asking(child: ChildProcess, name: string): BenchServer<unknown>["ask"] {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  child.on("message", (message) => {
    const { id, answer } = message as { readonly id: number; readonly answer: unknown };
    waiting.get(id)?.resolve(answer);
    waiting.delete(id);
  });
  child.once("exit", () => {
    for (const each of waiting.values()) each.reject(new Error(`${name} ended before it answered`));
  });
  let asked = 0;
  return (ask) => {
    asked += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(asked, answer);
    child.send({ id: asked, ask } satisfies Question);
    return answer.promise;
  };
}

async function firstLine(child: ChildProcess, name: string): Promise<string> {
  if (!child.stdout) throw new Error(`${name} has no standard output`);
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error(`${name} ended before it was ready`);
}
