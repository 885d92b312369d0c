// A long-running program of a test: started with its output in a file, awaited until it is up,
// restarted with the same arguments, and ended with the process that started it. Refuses with the
// end of its log when it doesn't come up.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { notingStart } from "./part-starts.ts";
import { guard } from "./watchdog.ts";

export interface PartPlan {
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** File that its output is appended to. */
  readonly log: string;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folder that goes when this process ends without a word. */
  readonly temporary?: string;
  isUp(): Promise<boolean>;
}

export interface PartProcess {
  readonly pid: number;
  /**
   * Sends a signal that ends it, SIGKILL where that takes longer than three seconds, and waits
   * until it is gone.
   */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Sends a signal that doesn't end it. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
  /** Ends it when it still runs, and starts it again. */
  restart(): Promise<void>;
}

const startSeconds = 60;
/** An API server whose watches stay open takes its time. */
const patience = 3_000;

export async function startPart(plan: PartPlan): Promise<PartProcess> {
  let child = await notingStart(plan.name, () => launch(plan));
  const end = async (signal: NodeJS.Signals) => {
    if (isGone(child)) return;
    const gone = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), patience);
    await gone;
    clearTimeout(late);
  };
  return {
    get pid() {
      return child.pid ?? 0;
    },
    end,
    signal: (signal) => void child.kill(signal),
    async restart() {
      await end("SIGTERM");
      child = await launch(plan);
    },
  };
}

async function launch(plan: PartPlan): Promise<ChildProcess> {
  const log = await open(plan.log, "a");
  const child = spawn(plan.program, plan.args, {
    stdio: ["ignore", log.fd, log.fd],
    env: { ...process.env, ...plan.env },
  });
  guard(child, plan.temporary);
  await log.close();
  const failed = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`${plan.name} ended early (${code ?? signal})`)));
  });
  try {
    await Promise.race([isUp(plan, child), failed]);
  } catch (cause) {
    child.kill("SIGKILL");
    const output = await readFile(plan.log, "utf8").catch(() => "(no log)");
    throw new Error(`${plan.program} did not start; its log ends with:\n${output.slice(-3_000)}`, { cause });
  }
  return child;
}

async function isUp(plan: PartPlan, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + startSeconds * 1_000;
  while (Date.now() < deadline && !isGone(child)) {
    if (await plan.isUp()) return;
    await sleep(50);
  }
  throw new Error(`${plan.name} was not up within ${startSeconds} s`);
}

function isGone(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
