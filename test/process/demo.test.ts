// `make demo`, as a person uses it: started in a terminal, its lines pasted into another one, ended with Ctrl-C.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

it("make demo serves the examples on two replicas, its lines work when pasted, and Ctrl-C leaves nothing", async () => {
  // A group of its own: Ctrl-C in a terminal reaches every process of it.
  const demo = spawn("make", ["--silent", "demo"], { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const group = -(demo.pid ?? 0);
  const end = (signal: NodeJS.Signals): void => void process.kill(group, signal);
  const onExit = (): void => end("SIGKILL");
  process.once("exit", onExit);
  let out = "";
  for (const stream of [demo.stdout, demo.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
  }
  const exited = once(demo, "exit");
  await eventually(() => expect(out).toMatch(/^Ready$/m), { withinMs: 120_000 });

  const lines = out.split("\n").map((line) => line.trim());
  const tried = lines.slice(lines.indexOf("Try") + 1, lines.indexOf("Try") + 5);
  const { stdout } = await run("bash", ["-c", tried.join("\n")]);
  expect(stdout).toMatch(/"title":"Emma".*"creator":"back-office"/);
  expect(stdout).toMatch(/"count":1,"items":\[/);
  expect(stdout).toContain('"darkMode"');

  const kubeconfig = /KUBECONFIG=(\S+)/.exec(out)?.[1] ?? "";
  expect(existsSync(kubeconfig)).toBe(true);
  end("SIGINT");
  await exited;
  process.off("exit", onExit);
  // make is gone before its last child is.
  await eventually(() => expect(existsSync(dirname(kubeconfig))).toBe(false), { withinMs: 20_000 });
  await eventually(() => expect(() => process.kill(group, 0)).toThrow(), { withinMs: 20_000 });
});
