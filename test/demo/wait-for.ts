// Waits until something holds, up to a bound, and gives up at once when a program that it depends
// on has ended. The failure says what was waited for in its first line, and what the programs said
// in the others.

import { setTimeout as sleep } from "node:timers/promises";

/** A process that is needed meanwhile. */
export interface NeededProgram {
  readonly name: string;
  /** Resolves with the exit code, null after a signal. */
  ended(): Promise<number | null>;
  log(): string;
}

export interface Wait {
  /** Completes "Waited 3 s for …". */
  readonly what: string;
  readonly withinMs: number;
  readonly needs: readonly NeededProgram[];
}

const betweenMs = 100;

/** Returns what `attempt` returned once it neither threw nor rejected. */
export async function waitFor<T>({ what, withinMs, needs }: Wait, attempt: () => T | Promise<T>): Promise<T> {
  const deadline = performance.now() + withinMs;
  let ended: string | undefined;
  for (const { name, ended: end, log } of needs) {
    void end().then((code) => {
      const how = code === null ? "by a signal" : `with code ${code}`;
      ended ??= `${name} ended ${how} (waited for ${what}): ${lastLine(log())}`;
    });
  }
  for (;;) {
    try {
      return await attempt();
    } catch (cause) {
      if (ended !== undefined) throw failure(ended, needs);
      if (performance.now() >= deadline) {
        const waited = `Waited ${Math.round(withinMs / 1_000)} s for ${what}: ${firstLine(cause)}`;
        throw failure(`${waited}. Try again when this machine has less to do`, needs);
      }
    }
    await sleep(betweenMs);
  }
}

function failure(line: string, needs: readonly NeededProgram[]): Error {
  const logs = needs.map(({ name, log }) => `-- ${name}\n${log()}`);
  return new Error([line, ...logs].join("\n"));
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "";
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) || "it said nothing";
}
