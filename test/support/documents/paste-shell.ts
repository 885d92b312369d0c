// A shell that lines are pasted into, block after block, as a reader does it: variables live on
// from one block to the next.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { guard } from "../process/watchdog.ts";

export interface Pasted {
  /** What the block printed, standard error included. */
  readonly printed: string;
  /** Exit code of its last command. */
  readonly code: number;
}

export interface PasteShell {
  paste(lines: string): Promise<Pasted>;
  stop(): Promise<void>;
}

const marker = "end-of-what-was-pasted";

export function pasteShell(cwd: string, env: Readonly<Record<string, string>> = {}): PasteShell {
  const shell = spawn("sh", ["-u"], { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", "pipe"] });
  guard(shell);
  let printed = "";
  let look = (): void => undefined;
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      look();
    });
  }
  let refuse = (_why: string): void => undefined;
  const gone = once(shell, "exit").then(() => refuse("The shell ended"));
  return {
    paste: (lines) =>
      new Promise((resolve, reject) => {
        printed = "";
        look = () => {
          const [, text, code] = new RegExp(`^([\\s\\S]*?)${marker} (\\d+)\n`).exec(printed) ?? [];
          if (text !== undefined) resolve({ printed: text, code: Number(code) });
        };
        refuse = (why) => reject(new Error(`${why} at:\n${lines}\n${printed}`));
        // Both streams, so that what is printed on one is not behind the other's marker.
        shell.stdin.write(`{ ${lines.trimEnd()}\n} 2>&1\necho "${marker} $?"\n`);
      }),
    async stop() {
      shell.stdin.end();
      await gone;
    },
  };
}
