import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { readRows } from "../../tools/spec/read-rows.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFile(join(root, path), "utf8");

it("npm run help has a sentence for every script, and no other", () => {
  const help = spawnSync(process.execPath, [join(root, "tools/help.ts")], { encoding: "utf8" });
  expect(help.stderr).toBe("");
  expect(help.status).toBe(0);
});

it("make help has a sentence for every target", async () => {
  const targets = [...(await read("Makefile")).matchAll(/^([a-z-]+):/gm)].map(([, target]) => target);
  const help = execFileSync("make", ["--no-print-directory", "help"], { cwd: root, encoding: "utf8" });
  expect(
    help
      .split("\n")
      .map((line) => /^make ([a-z-]+) +\S/.exec(line)?.[1])
      .filter(Boolean),
  ).toEqual(targets);
});

it("every variable that the tools read is explained in CONTRIBUTING.md", async () => {
  const tools = execFileSync("git", ["grep", "-ohE", "JSONPLANE_[A-Z_]+", "--", "tools", "bin"], {
    cwd: root,
    encoding: "utf8",
  });
  const explained = await read("CONTRIBUTING.md");
  const silent = [...new Set(tools.trim().split("\n"))].filter((name) => !explained.includes(name));
  expect(silent).toEqual([]);
});

it("the Node that is fetched is one that package.json and the command line accept", async () => {
  const { engines } = JSON.parse(await read("package.json")) as { engines: { node: string } };
  const script = await read("tools/parts/node.sh");
  const needed = /^needed=(\d+)$/m.exec(script)?.[1];
  expect(engines.node).toBe(`>=${needed}`);
  expect(/^version=(\d+)\./m.exec(script)?.[1]).toBe(needed);
  expect(await read("cli/main.ts")).toContain(`const oldest = ${needed};`);
});

it("no file whose tests run side by side polls with expect(…).rejects: Vitest may hold an attempt that failed against a test beside it", async () => {
  const listed = execFileSync("git", ["grep", "-lE", "\\b(describe|it|test)\\.concurrent\\b", "--", "test"], {
    cwd: root,
    encoding: "utf8",
  });
  const files = listed.trim().split("\n");
  expect(files.length).toBeGreaterThan(5);
  const texts = await Promise.all(files.map(read));
  const polls = (text: string) => callsOf("eventually", text).some((call) => /\.(rejects|resolves)\b/.test(call));
  expect(files.filter((_, at) => polls(texts[at] ?? ""))).toEqual([]);
});

it("no test is tried again when it fails: not by Vitest's configuration, by an option of a test or on a command line", async () => {
  const { default: config } = await import("../../vitest.config.ts");
  expect(membersCalled("retry", config)).toEqual([]);
  // In parts, so that this file is not found itself.
  const option = ["retry", ": *[0-9{]"].join(" *");
  const flag = ["--", "retry"].join("");
  const places = ["test", "tools", "bin", "package.json", "Makefile", "vitest.config.ts", ".github"];
  const found = spawnSync("git", ["grep", "-nE", "-e", `\\b${option}`, "-e", flag, "--", ...places], {
    cwd: root,
    encoding: "utf8",
  });
  expect([found.stdout, found.stderr]).toEqual(["", ""]);
});

/** Paths of the members of that name, at any depth. */
function membersCalled(name: string, value: unknown, path = ""): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...(key === name ? [`${path}.${key}`] : []),
    ...membersCalled(name, member, `${path}.${key}`),
  ]);
}

/** What stands between the parentheses of each call. */
function callsOf(name: string, text: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\\b${name}\\(`, "g"))].map(({ index }) => {
    const begin = index + name.length;
    let depth = 0;
    for (let at = begin; at < text.length; at += 1) {
      if (text[at] === "(") depth += 1;
      if (text[at] === ")") depth -= 1;
      if (depth === 0) return text.slice(begin, at);
    }
    return text.slice(begin);
  });
}

it("no committed file names a package registry's host or a place on one machine", () => {
  const hosts = ["registry.npmjs", "files.pythonhosted", "pypi"].map((host) => `${host}\\.org`);
  // In parts, so that this file is not found itself.
  const places = [
    ["/ro", "ot/"],
    ["/wo", "rk/"],
    ["/ho", "me/[a-z]"],
  ].map((parts) => `(^|[^a-zA-Z0-9_./}])${parts.join("")}`);
  const found = spawnSync(
    "git",
    ["grep", "-nIE", [...hosts, ...places].join("|"), "--", ".", ":(exclude)test/meta/repository.test.ts"],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  expect(found.stdout).toBe("");
});

it("no line of a comment is longer than 100 columns", async () => {
  const listed = execFileSync("git", ["ls-files", "--", ...commented], { cwd: root, encoding: "utf8" });
  const files = listed.split("\n").filter((path) => /\.(?:tsx?|lua|sh)$/.test(path) && existsSync(join(root, path)));
  const long = await Promise.all(
    files.map(async (path) => {
      const lines = (await read(path)).split("\n");
      return lines.flatMap((line, at) => (isLongComment(line) ? [`${path}:${at + 1}`] : []));
    }),
  );
  expect(long.flat()).toEqual([]);
});

const commented = ["core", "dataplane", "operator", "cli", "pages", "client", "test", "tools", "examples"];

function isLongComment(line: string): boolean {
  return line.length > 100 && /^\s*(?:\/\/|\/\*\*|\*|--|#) /.test(line) && !line.includes("biome-ignore");
}

it("every promise that names a test names a file that is there", async () => {
  const { rows } = await readRows(root);
  const files = rows.flatMap(({ tests }) => tests.map((name) => name.split(" › ")[0] ?? ""));
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
