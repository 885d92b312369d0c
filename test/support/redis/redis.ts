// Starts real Redis servers with the RedisJSON module for tests: each on a free port of 127.0.0.1
// with a folder of its own. Refuses when a part is missing (PartMissing) or a server doesn't come
// up, with the end of its log.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findRedis } from "../../../tools/parts/redis.ts";
import { freePort } from "../process/free-port.ts";
import { notingStart } from "../process/part-starts.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { guard } from "../process/watchdog.ts";
import { askRedis } from "./ask-redis.ts";

export interface RedisOptions {
  /**
   * Further arguments of redis-server, e.g. `["--appendonly", "yes", "--appendfsync", "always"]`.
   */
  readonly args?: readonly string[];
  /** Where it keeps its data; default a temporary folder that goes with stop(). */
  readonly dir?: string;
  readonly port?: number;
  /** False starts it without the RedisJSON module. */
  readonly json?: boolean;
}

export interface TestRedis {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** Of the server that runs now, or ran last. */
  readonly pid: number;
  readonly dir: string;
  /**
   * Ends the server and removes its temporary folder; where the folder is the caller's, its files
   * are closed in order.
   */
  stop(): Promise<void>;
  /**
   * Sends a signal; for one that ends the server (default SIGKILL) it waits until the server is
   * gone.
   */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port and folder, and ends it first when it still runs. */
  restart(): Promise<void>;
}

const host = "127.0.0.1";
const startSeconds = 20;

/**
 * A standalone Redis with JSON that answers PING. Nothing is written to disk unless `args` say so.
 */
export async function startRedis(options: RedisOptions = {}): Promise<TestRedis> {
  const program = await findRedis(process.env);
  const folder = options.dir === undefined ? temporaryFolder("jsonplane-redis-") : undefined;
  const dir = options.dir ?? folder?.path ?? "";
  const port = options.port ?? (await freePort());
  const location: ServerLocation = { dir, port, temporary: options.dir ? undefined : dir };
  const module = options.json === false ? [] : ["--loadmodule", program.module];
  const args = serverArgs(location, [...module, ...(options.args ?? [])]);
  let child = await notingStart("redis-server", () => launch(program.server, args, location));
  const end = async (signal: NodeJS.Signals) => {
    if (isGone(child)) return;
    const gone = once(child, "exit");
    child.kill(signal);
    const late = setTimeout(() => child.kill("SIGKILL"), 5_000);
    await gone;
    clearTimeout(late);
  };
  return {
    url: `redis://${host}:${port}`,
    host,
    port,
    dir,
    get pid() {
      return child.pid ?? 0;
    },
    async stop() {
      // What goes with its folder needs no orderly end, for which Redis takes up to a tenth of a
      // second.
      await end(options.dir === undefined ? "SIGKILL" : "SIGTERM");
      await folder?.remove();
    },
    async kill(signal = "SIGKILL") {
      if (signal === "SIGSTOP" || signal === "SIGCONT") child.kill(signal);
      else await end(signal);
    },
    async restart() {
      await end("SIGTERM");
      child = await launch(program.server, args, location);
    },
  };
}

interface ServerLocation {
  readonly dir: string;
  /** `dir` when it is temporary. */
  readonly temporary: string | undefined;
  readonly port: number;
}

function serverArgs(location: ServerLocation, further: readonly string[]): readonly string[] {
  const where = [
    "--port",
    String(location.port),
    "--bind",
    host,
    "--dir",
    location.dir,
    "--logfile",
    logFile(location.dir),
  ];
  const quiet = ["--loglevel", "notice", "--daemonize", "no", "--save", "", "--appendonly", "no"];
  return [...where, ...quiet, "--enable-debug-command", "yes", ...further];
}

function logFile(dir: string): string {
  return join(dir, "redis.log");
}

async function launch(server: string, args: readonly string[], location: ServerLocation): Promise<ChildProcess> {
  const child = spawn(server, args, { stdio: "ignore" });
  guard(child, location.temporary);
  const failed = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`redis-server ended early (${code ?? signal})`)));
  });
  try {
    await Promise.race([answersPing(location.port), failed]);
  } catch (cause) {
    child.kill("SIGKILL");
    const log = await readFile(logFile(location.dir), "utf8").catch(() => "(no log)");
    throw new Error(`${server} did not start on port ${location.port}; its log ends with:\n${log.slice(-2_000)}`, {
      cause,
    });
  }
  return child;
}

/**
 * Resolves when the server answers; -LOADING means that it still reads its files, other errors mean
 * that it is up.
 */
async function answersPing(port: number): Promise<void> {
  const deadline = Date.now() + startSeconds * 1_000;
  while (Date.now() < deadline) {
    const answer = await askRedis(port, "PING").catch(() => "");
    if (answer !== "" && !answer.startsWith("-LOADING")) return;
    await sleep(10);
  }
  throw new Error(`no answer to PING within ${startSeconds} s`);
}

function isGone(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
