// Dev mode with the examples and an open inspector, in a folder that goes with it: what a request
// is traced in unless a running replica is named.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ScriptFailed } from "../../tools/start-script.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { guard } from "../support/process/watchdog.ts";

export interface TracedDev {
  /** Origin of the API. */
  readonly url: string;
  /** Host and port. */
  readonly inspector: string;
  /** Of an ApiKey of the examples. */
  apiKey(name: string): Promise<string>;
  stop(): Promise<void>;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

export async function startTracedDev(): Promise<TracedDev> {
  const data = temporaryFolder("jsonplane-trace-");
  const ports = ["--port", "0", "--admin-port", "0", "--log-level", "info"];
  const words = ["--inspect=127.0.0.1:0", "cli/main.ts", "dev", "examples", "--data", data.path, ...ports];
  const child = spawn(process.execPath, words, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  guard(child);
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    await data.remove();
  };
  try {
    const [url, inspector] = await Promise.all([
      findInOutput(child, "stdout", /(http:\/\/[\d.:]+)\/default\/[\s\S]*^Ready$/m),
      findInOutput(child, "stderr", /Debugger listening on ws:\/\/([\d.:]+)\//),
    ]);
    return { url, inspector, apiKey: (name) => apiKeyIn(data.path, name), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The part of what it prints that `pattern` groups. */
function findInOutput(child: ChildProcess, stream: "stdout" | "stderr", pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      const found = pattern.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new ScriptFailed(`Dev mode ended before it was ready: ${output.trim()}`)));
  });
}

async function apiKeyIn(data: string, name: string): Promise<string> {
  const file = join(data, "secrets/default", `${name}-api-key.yaml`);
  const text = await readFile(file, "utf8").catch(() => "");
  const key = /^ *apiKey: (\S+)$/m.exec(text)?.[1];
  if (key === undefined) throw new ScriptFailed(`The examples have no ApiKey ${name}`);
  return key;
}
