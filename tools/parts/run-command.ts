// Runs a program to its end and returns what it printed; a program that can't be started is told
// from one that failed.

import { type ChildProcess, spawn } from "node:child_process";

export interface Finished {
  /** The exit code; 127 when there is no such program, 128 when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from its standard input; default nothing. */
  readonly input?: string;
  /** Milliseconds after which the program is killed; default ten minutes. */
  readonly timeout?: number;
  /** Kills the program when it is aborted. */
  readonly signal?: AbortSignal;
  /** Called with each piece of standard error as it comes. */
  readonly onStderr?: (text: string) => void;
}

const running = new Set<ChildProcess>();

/**
 * Ends the programs that run: a signal to this process alone, unlike Ctrl-C, doesn't reach them.
 */
export function endRunning(): void {
  for (const child of running) child.kill("SIGTERM");
}

export function runCommand(command: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    // A program that reads nothing of it may have ended before it was written.
    child.stdin.on("error", () => undefined).end(options.input ?? "");
    running.add(child);
    const kill = () => {
      child.kill("SIGKILL");
      // What the program itself has started may go on and hold these open: nobody waits for that.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    // spawn's own timeout goes on running after a program that wasn't found, and keeps this process
    // alive for it.
    const late = setTimeout(kill, options.timeout ?? 600_000);
    if (options.signal?.aborted) kill();
    options.signal?.addEventListener("abort", kill, { once: true });
    const finish = (finished: Finished) => {
      clearTimeout(late);
      running.delete(child);
      options.signal?.removeEventListener("abort", kill);
      resolve(finished);
    };
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
      options.onStderr?.(chunk);
    });
    child.on("error", (error) => finish({ code: 127, stdout, stderr: `${stderr}${error.message}` }));
    child.on("close", (code) => finish({ code: code ?? 128, stdout, stderr }));
  });
}

/** Runs a program that has to succeed; throws its last words when it doesn't. */
export async function runOrThrow(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const done = await runCommand(command, args, options);
  if (done.code === 0) return done;
  throw new Error(`${command} ${args[0]} failed in ${options.cwd ?? process.cwd()}: ${lastWords(done)}`);
}

/** The last lines of what a failed program printed, for an error message. */
export function lastWords(finished: Finished, lines = 6): string {
  const printed = `${finished.stdout}\n${finished.stderr}`.split("\n").filter((line) => line.trim() !== "");
  return printed.slice(-lines).join("\n");
}
