// Every script that a person runs refuses what it doesn't take, and says what is missing, in one
// line without a stack.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const running = execute(process.execPath, [file, ...args], { cwd: root, env: { ...process.env, ...env } });
  return await running.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
}

/** A script of these lines, with the frame that all have. */
function inFrame(lines: string): string {
  return `import("./tools/start-script.ts").then(({ startScript }) => { const script = startScript("a script"); ${lines} })`;
}

/** What it is started with, and the line that it answers. */
const wrongArguments: readonly (readonly [string, readonly string[], string])[] = [
  ["tools/build.ts", ["a", "b"], "npm run build: b is not an argument of it. It takes [FOLDER]"],
  ["tools/check-layers.ts", ["--fix"], "npm run check -- layers: Unknown option '--fix'. It takes [FOLDER]"],
  [
    "tools/test.ts",
    ["test", "fast"],
    "npm test: fast: there are nightly, valkey, kubernetes, unit, meta, store, http, operator, chart, image, observability, process, security, e2e",
  ],
  ["tools/test.ts", ["check", "words"], "npm run check: words: there are style, types, layers"],
  ["tools/parts.ts", ["a", "b"], "make parts: b is not an argument of it. It takes --list, [GROUP]"],
  ["tools/generate.ts", ["docs"], "npm run generate: docs is not an argument of it. It takes no arguments"],
  ["tools/help.ts", ["demo"], "npm run help: demo is not an argument of it. It takes no arguments"],
  ["tools/spec.ts", ["--all"], "npm run spec: Unknown option '--all'. It takes no arguments"],
  ["tools/cluster/main.ts", [], "make cluster: It takes `up [ARCHIVE…]` or `down`, not nothing"],
  ["tools/cluster/main.ts", ["stop"], "make cluster: It takes `up [ARCHIVE…]` or `down`, not stop"],
  ["tools/image/make.ts", ["redis"], "make image: redis is not an argument of it. It takes no arguments"],
  ["tools/image/sbom.ts", ["a"], "make sbom: a is not an argument of it. It takes no arguments"],
  ["tools/image/pack.ts", ["x"], "tools/image/pack.ts: x is not an image that can be packed: jsonplane and redis are"],
  ["tools/image/contents.ts", [], "tools/image/contents.ts: It takes the FOLDER that the contents are written to"],
  [
    "tools/release/main.ts",
    [],
    "npm run release: It takes --dry-run, or --registry HOST/OWNER, which image and chart are pushed to",
  ],
  [
    "tools/release/main.ts",
    ["--registry", "https://ghcr.io"],
    'npm run release: --registry is "https://ghcr.io": it takes a host and a path, such as ghcr.io/acme',
  ],
  ["test/bare-machine/run.ts", ["--all"], "npm run bare-machine: Unknown option '--all'. It takes --whole, --warm-go"],
  ["test/mutations/run.ts", ["--all"], "npm run mutations: Unknown option '--all'. It takes --only ONLY"],
  ["test/demo/run.ts", ["--help"], "make demo: Unknown option '--help'. It takes no arguments"],
  ["test/trace/run.ts", ["GET"], "npm run trace: It takes a method and a URL, as in `GET /default/bookshop/api/books`"],
  [
    "test/conformance/run.ts",
    ["http://127.0.0.1:8080/default/shop"],
    "npm run conformance: It takes the URL of a collection, such as http://127.0.0.1:8080/default/shop/api/books",
  ],
  [
    "test/bench/run.ts",
    ["memory"],
    "npm run bench -- memory: There are operations, before, neighbours, changes, unique, expiry, check, transfer, scale, durability, operator",
  ],
  ["test/chaos/run.ts", ["--seed", "x"], 'npm run chaos: --seed is "x": it takes a whole number of at least 0'],
  ["test/soak/run.ts", ["--minutes", "0"], 'npm run soak: --minutes is "0": it takes a whole number of at least 1'],
  ["test/fuzz/run.ts", ["--requests", "x"], 'npm run fuzz: --requests is "x": it takes a whole number of at least 0'],
  [
    "test/fuzz/run.ts",
    ["openapi", "--examples", "0"],
    'npm run fuzz: --examples is "0": it takes a whole number of at least 1',
  ],
  [
    "test/observability/draw-dashboards.ts",
    ["few"],
    'npm run draw:dashboards: MINUTES is "few": it takes a whole number of at least 1',
  ],
];

type Variables = Readonly<Record<string, string>>;

const missing: readonly (readonly [string, readonly string[], Variables, RegExp])[] = [
  [
    "test/bench/run.ts",
    [],
    { JSONPLANE_REDIS_SERVER: "/none" },
    /^npm run bench -- operations: JSONPLANE_REDIS_SERVER n/,
  ],
  ["test/demo/run.ts", [], { TEST_ASSET_ETCD: "/none" }, /^make demo: TEST_ASSET_ETCD names \/none/],
  ["test/chaos/run.ts", ["--only", "peace"], {}, /^npm run chaos: No scenario is called peace; there are /],
  ["test/fuzz/run.ts", ["openapi", "--project", "x"], {}, /^npm run fuzz: There is no example project x; there are /],
  ["tools/cluster/main.ts", ["up"], { JSONPLANE_CLUSTER: "x" }, /^make cluster: JSONPLANE_CLUSTER is x: it may be/],
];

describe.concurrent("a script that a person runs", () => {
  it.for(wrongArguments)("refuses wrong arguments in one line: %s %j", async ([file, args, line], { expect }) => {
    expect(await run(file, args)).toEqual({ code: 2, stdout: "", stderr: `${line}\n` });
  });

  it.for(missing)("says in one line what is missing: %s %j %j", async ([file, args, env, line], { expect }) => {
    const { code, stderr } = await run(file, args, env);
    expect(code).toBeGreaterThan(0);
    expect(stderr).toMatch(line);
    // The ways to a missing part follow, one a line.
    expect(stderr.trimEnd()).not.toMatch(/\n(?! {2}- )/);
  });

  it("lists what there is of the parts although a variable names none, and says which", async ({ expect }) => {
    const env = { JSONPLANE_HELM: "/none" };
    const { code, stdout } = await run("tools/parts.ts", ["chart", "--list"], env);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}helm 4 +unusable +JSONPLANE_HELM names \/none/m);
    expect(stdout).toMatch(/^ {2}CRDs of other projects /m);
  });

  it.for([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("undoes what it has begun when %s interrupts it, and says so", async ([signal, code], { expect }) => {
    const begins = `
      script.onInterrupt(() => console.log("first"));
      script.onInterrupt(async () => console.log("second"));
      setInterval(() => undefined, 1_000);
      console.log("begun");`;
    const child = spawn(process.execPath, ["-e", inFrame(begins)], { cwd: root });
    const output = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const) {
      child[stream].on("data", (chunk: Buffer) => {
        output[stream] += chunk.toString();
        if (output.stdout === "begun\n") child.kill(signal);
      });
    }
    await once(child, "close");
    expect(child.exitCode).toBe(code);
    expect(output).toEqual({ stdout: "begun\nsecond\nfirst\n", stderr: "a script: interrupted\n" });
  });

  it.for([
    [
      "a failure that nothing waits for, in one line",
      'void Promise.reject(new Error("Redis ended"));',
      /^a script: Redis ended\n$/,
    ],
    ["a defect, with its stack", "undefined.x;", /^TypeError: [^\n]*\n +at /],
  ] as const)("tells %s", async ([, code, output], { expect }) => {
    const ended = await run("-e", [inFrame(code)]);
    expect(ended).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(output) });
  });

  it.for([
    ["a command", "cli/main.ts --help"],
    ["a script", `-e '${inFrame('process.stdout.write("y")')}'`],
  ])("ends without a word when nobody reads what it says: %s", async ([, words], { expect }) => {
    const closed = `{ "$0" ${words} 2>&3 | true; } 3>&1`;
    expect(await execute("sh", ["-c", closed, process.execPath], { cwd: root })).toEqual({ stdout: "", stderr: "" });
  });
});

it("no script of package.json or the Makefile is left out", async () => {
  const texts = await Promise.all(["package.json", "Makefile"].map((name) => readFile(join(root, name), "utf8")));
  const scripts = texts.flatMap((text) => [...text.matchAll(/\bnode (\S+\.ts)/g)].map(([, file]) => file ?? ""));
  const known = new Set(wrongArguments.map(([file]) => file));
  expect(scripts.length).toBeGreaterThan(15);
  expect(scripts.filter((file) => !known.has(file))).toEqual([]);
});
