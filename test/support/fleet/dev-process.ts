// Runs `bin/jsonplane dev` as a person would, in a folder of its own, and keeps what it prints.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { guard } from "../process/watchdog.ts";
import { eventually } from "../time/eventually.ts";

const program = fileURLToPath(new URL("../../../bin/jsonplane", import.meta.url));

export interface DevProcess {
  readonly child: ChildProcess;
  out(): string;
  error(): string;
  /** Waits for a line of standard output that `pattern` matches, from `since` on. */
  line(pattern: RegExp, since?: number): Promise<string>;
  /** Resolves once `Ready` stands on a line of its own. */
  ready(): Promise<void>;
  /** Sends a signal and waits for the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  exit(): Promise<number | null>;
}

export function devProcess(words: readonly string[], cwd: string): DevProcess {
  return commandProcess(["dev", ...words], cwd);
}

/** Any command that runs until it is stopped. */
export function commandProcess(words: readonly string[], cwd: string): DevProcess {
  return followed(spawn(program, words, { cwd, stdio: ["ignore", "pipe", "pipe"] }));
}

/** The same for a command line as a person pastes it. */
export function pastedDevProcess(command: string, cwd: string, variables: NodeJS.ProcessEnv): DevProcess {
  const env = { ...process.env, ...variables };
  return followed(spawn("sh", ["-c", `exec ${command}`], { cwd, env, stdio: ["ignore", "pipe", "pipe"] }));
}

function followed(child: ChildProcess): DevProcess {
  guard(child);
  const written = { out: "", error: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    written.out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    written.error += text;
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const line = async (pattern: RegExp, since = 0): Promise<string> => {
    const missing = () => new Error(`No line ${pattern} in:\n${written.out}\n${written.error}`);
    const found = await eventually(
      () => {
        const hasEnded = child.exitCode !== null || child.signalCode !== null;
        const line = written.out
          .slice(since)
          .split("\n")
          .find((text) => pattern.test(text));
        if (line === undefined && !hasEnded) throw missing();
        return line;
      },
      { withinMs: 120_000 },
    );
    if (found === undefined) throw missing();
    return found;
  };
  return {
    child,
    out: () => written.out,
    error: () => written.error,
    line,
    async ready() {
      await line(/^Ready$/);
    },
    async stop(signal = "SIGINT") {
      child.kill(signal);
      return await exited;
    },
    exit: () => exited,
  };
}
