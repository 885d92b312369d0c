// `make demo`, as a person uses it: started in a terminal, its lines pasted into another one, ended
// with Ctrl-C; and what that person reads when it can't start.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readManifests } from "../../cli/manifests/read-manifests.ts";
import { eventually } from "../support/time/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);
let temporary = "";

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "jsonplane-demo-"));
});
afterEach(() => rm(temporary, { recursive: true, force: true }));

interface Terminal {
  readonly child: ChildProcess;
  /** Both streams so far. */
  output(): string;
  /** To every process of it, as Ctrl-C does. */
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
}

/**
 * A group of its own: Ctrl-C in a terminal reaches every process of it. Its temporary files lie in
 * `temporary`.
 */
function terminal(command: string, ...args: readonly string[]): Terminal {
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(command, args, { cwd: root, detached: true, stdio: ["ignore", "pipe", "pipe"], env });
  const signal = (name: NodeJS.Signals): void => void process.kill(-(child.pid ?? 0), name);
  const onExit = (): void => signal("SIGKILL");
  process.once("exit", onExit);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const exited = once(child, "close").then(() => {
    process.off("exit", onExit);
    return child.exitCode;
  });
  return { child, output: () => output, signal, exited };
}

/** Waits for the line; a program that ends before it fails the test at once. */
async function line(wanted: RegExp, { child, output, exited }: Terminal): Promise<void> {
  const printed = new Promise<void>((resolve) => {
    const look = (): void => void (wanted.test(output()) && resolve());
    child.stdout?.on("data", look);
  });
  const ended = exited.then((code) => {
    throw new Error(`It ended with ${code} before it said ${wanted}:\n${output()}`);
  });
  await Promise.race([printed, ended]);
}

it("make demo serves what make run serves on two replicas, its lines work when pasted, and Ctrl-C leaves nothing", async () => {
  const demo = terminal("make", "--silent", "demo");
  await line(/^Ready$/m, demo);

  const out = demo.output();
  const lines = out.split("\n").map((each) => each.trim());
  const tried = lines.slice(lines.indexOf("Try") + 1, lines.indexOf("Try") + 5);
  const { stdout } = await run("bash", ["-c", tried.join("\n")]);
  expect(stdout).toMatch(/"title":"Emma".*"creator":"back-office"/);
  expect(stdout).toMatch(/"count":1,"items":\[/);
  expect(stdout).toContain('"darkMode"');

  const kubeconfig = /KUBECONFIG=(\S+)/.exec(out)?.[1] ?? "";
  const kubectl = `${/alias kubectl=(\S+)/.exec(out)?.[1]} --kubeconfig ${kubeconfig}`;
  const served = (await run("bash", ["-c", `${kubectl} get jsonplane -o name`])).stdout.trim().split("\n");
  const ofExamples = (await readManifests(join(root, "examples"))).objects.map(({ subject }) => {
    const [kind = "", , name = ""] = subject.split("/");
    return `${kind.toLowerCase()}.jsonplane.io/${name}`;
  });
  expect(served.toSorted()).toEqual(ofExamples.toSorted());

  const [first = "", second = ""] = [...out.matchAll(/^ {2}(http:\S+)\/default\/bookshop /gm)].map(
    ([, origin]) => origin,
  );
  const login = `curl -sS -X POST ${first}/default/bookshop/sessions/ -u "ada:$(${kubectl} get secret ada-password -o jsonpath='{.data.password}' | base64 -d)"`;
  const { access_token } = JSON.parse((await run("bash", ["-c", login])).stdout) as { access_token: string };
  const headers = { authorization: `bearer ${access_token}` };
  for (const origin of [first, second])
    expect((await fetch(`${origin}/default/bookshop/api/reviews`, { headers })).status).toBe(200);

  expect(existsSync(kubeconfig)).toBe(true);
  demo.signal("SIGINT");
  await demo.exited;
  // make is gone before its last child is.
  await eventually(() => expect(existsSync(dirname(kubeconfig))).toBe(false), { withinMs: 20_000 });
  await eventually(() => expect(() => demo.signal("SIGCONT")).toThrow(), { withinMs: 20_000 });
});

it("a demo whose operator ends says so at once in one line, and leaves no process and only the file that it names", async () => {
  const operator = join(temporary, "operator.mjs");
  await writeFile(operator, 'console.error("some trouble\\nRedis is too old"); process.exitCode = 3;\n');
  const demo = terminal("sh", "tools/with-node.sh", "node", "test/demo/run-with-operator.ts", operator);
  expect(await demo.exited).toBe(1);
  const lines = demo.output().trimEnd().split("\n");
  expect(lines.filter((each) => !each.startsWith("Starting "))).toEqual([
    expect.stringMatching(
      /^make demo: The operator ended with code 3 \(waited for the operator to make the Secret jsonplane-keyring\): Redis is too old\. All that was said: \S+$/,
    ),
  ]);
  expect((await readdir(temporary)).toSorted()).toEqual([
    expect.stringMatching(/^jsonplane-failure-/),
    basename(operator),
  ]);
  expect(await readFile(lines.at(-1)?.split(": ").at(-1) ?? "", "utf8")).toContain("some trouble");
  await eventually(() => expect(() => demo.signal("SIGCONT")).toThrow(), { withinMs: 20_000 });
});

it("Ctrl-C while a demo starts ends it without a word and leaves nothing", async () => {
  const demo = terminal("sh", "tools/with-node.sh", "node", "test/demo/run.ts");
  await line(/^Starting etcd/m, demo);
  demo.signal("SIGINT");
  expect(await demo.exited).toBe(0);
  const [, said = ""] = /^(Starting etcd.*)$/ms.exec(demo.output()) ?? [];
  const lines = said.trimEnd().split("\n");
  expect(lines.filter((each) => !each.startsWith("Starting "))).toEqual([]);
  await eventually(() => expect(() => demo.signal("SIGCONT")).toThrow(), { withinMs: 20_000 });
  await eventually(async () => expect(await readdir(temporary)).toEqual([]), { withinMs: 20_000 });
});
