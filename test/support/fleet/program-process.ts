// One of this project's programs as a process of its own, started the way a cluster starts it, with
// what it says on standard error kept. It ends with the process that started it, however that one
// ends.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { send } from "../http/http-client.ts";
import { guard } from "../process/watchdog.ts";
import { eventually } from "../time/eventually.ts";

/** What may be asked of a program by whoever did not start it. */
export interface RunningProgram {
  /** Of probes and metrics. */
  readonly adminUrl: string;
  /** Standard error so far: one JSON line per entry. */
  log(): string;
  /** Status of /readyz. */
  ready(): Promise<number>;
  /** The text of /metrics. */
  metrics(): Promise<string>;
}

export interface ProgramProcess extends RunningProgram {
  readonly pid: number;
  /** Where standard error goes, when that is a file. */
  readonly logFile: string | undefined;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code once it ends by itself; null when a signal ended it. */
  ended(): Promise<number | null>;
  /** Resolves with the exit code, null when the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface ProgramPlan {
  /** Arguments of Node: its own flags, then `programFile`, then those of the program. */
  readonly args: readonly string[];
  readonly adminUrl: string;
  /** File for standard error, so that other processes can read it too. */
  readonly logFile?: string | undefined;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A command that runs Node, given as its last arguments, by exec(3). */
  readonly within?: readonly string[] | undefined;
}

export const programFile = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

/** What Node made of the sources: a program that finds it starts with half of the work. */
const compiledPrograms = fileURLToPath(new URL("../../../node_modules/.cache/jsonplane-programs", import.meta.url));

/** Of a busy machine. */
const startMilliseconds = 90_000;

export async function startProgram({
  args,
  adminUrl,
  logFile,
  env,
  within = [],
}: ProgramPlan): Promise<ProgramProcess> {
  const file = logFile === undefined ? undefined : await open(logFile, "a");
  const [command = process.execPath, ...words] = [...within, process.execPath, ...args];
  const child = spawn(command, words, {
    stdio: ["ignore", "ignore", file?.fd ?? "pipe"],
    env: { ...process.env, NODE_COMPILE_CACHE: compiledPrograms, ...env },
  });
  guard(child);
  await file?.close();
  let text = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const gone = once(child, "exit").then(() => child.exitCode);
  return {
    ...runningProgram({ adminUrl, log: () => (logFile === undefined ? text : readFileSync(logFile, "utf8")) }),
    pid: child.pid ?? 0,
    logFile,
    signal: (signal) => void child.kill(signal),
    ended: () => gone,
    async stop(signal = "SIGTERM") {
      if (!hasEnded(child)) child.kill(signal);
      return await gone;
    },
  };
}

/** The program that answers there, whoever started it. */
export function runningProgram({ adminUrl, log }: Pick<RunningProgram, "adminUrl" | "log">): RunningProgram {
  return {
    adminUrl,
    log,
    ready: async () => (await send(adminUrl, "/readyz")).status,
    metrics: async () => (await send(adminUrl, "/metrics")).text,
  };
}

/** Waits for 200 of /readyz; rejects with what the program said when it ends or takes too long. */
export async function untilReady(program: ProgramProcess): Promise<void> {
  let isOver = false;
  const over = program.ended().then((code) => {
    isOver = true;
    throw new Error(`The program ended with ${code}:\n${program.log()}`);
  });
  const ready = eventually(
    async () => {
      if (!isOver && (await program.ready()) !== 200) throw new Error(`The program is not ready:\n${program.log()}`);
    },
    { withinMs: startMilliseconds },
  );
  await Promise.race([ready, over]);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
