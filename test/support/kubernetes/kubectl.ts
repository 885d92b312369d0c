// Runs kubectl to its end with one kubeconfig, and nothing of the developer's own. Rejects with
// KubectlFailed, which holds what kubectl said.

import { spawn } from "node:child_process";
import { dirname } from "node:path";

export interface KubectlOptions {
  /** What it reads from standard input, for `-f -`. */
  readonly input?: string;
}

export interface Kubectl {
  readonly kubeconfig: string;
  /** What kubectl printed. */
  run(args: readonly string[], options?: KubectlOptions): Promise<string>;
}

export class KubectlFailed extends Error {
  override readonly name = "KubectlFailed";
  readonly code: number | null;
  readonly stderr: string;
  readonly stdout: string;

  constructor(
    args: readonly string[],
    code: number | null,
    { stdout, stderr }: Pick<KubectlFailed, "stdout" | "stderr">,
  ) {
    super(`kubectl ${args.join(" ")} failed (${code}): ${stderr.trim()}`);
    this.code = code;
    this.stderr = stderr;
    this.stdout = stdout;
  }
}

export function kubectlOf(program: string, kubeconfig: string): Kubectl {
  return { kubeconfig, run: (args, options = {}) => run(program, kubeconfig, args, options) };
}

function run(program: string, kubeconfig: string, args: readonly string[], { input }: KubectlOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["--kubeconfig", kubeconfig, ...args], {
      // A home of its own: kubectl keeps what it learnt of a server there, by the server's address,
      // and ports come back.
      env: { ...process.env, HOME: dirname(kubeconfig), KUBECONFIG: kubeconfig },
      stdio: ["pipe", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) =>
      code === 0 ? resolve(stdout) : reject(new KubectlFailed(args, code, { stdout, stderr })),
    );
    // A kubectl that refuses its arguments reads nothing.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input ?? "");
  });
}
