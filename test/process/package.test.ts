import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { pageNames } from "../../pages/bundle-page.ts";
import { freePort } from "../support/process/free-port.ts";
import { guard } from "../support/process/watchdog.ts";
import { eventually } from "../support/time/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`, NODE_ENV: "" };
let folder = "";
let packed: readonly string[] = [];

/** Packs a copy of the tree, because the build replaces dist/ and other tests may be using it. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-package-"));
  const source = join(folder, "source");
  for (const path of trackedFiles()) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await cp(join(root, path), join(source, path));
  }
  await symlink(join(root, "node_modules"), join(source, "node_modules"));
  // What a person who tried the sample app has in it.
  for (const path of ["dist/index.html", "node_modules/vite/index.js", "package-lock.json"]) {
    const made = join(source, "examples/browser-app", path);
    await mkdir(dirname(made), { recursive: true });
    await writeFile(made, "");
  }
  const report = npm(source, "pack", "--json", "--silent", "--pack-destination", folder);
  const [result] = JSON.parse(report.slice(report.indexOf("["))) as [{ filename: string; files: { path: string }[] }];
  packed = result.files.map((file) => file.path);
  await mkdir(join(folder, "elsewhere"));
  await writeFile(join(folder, "elsewhere/package.json"), "{}");
  npm(join(folder, "elsewhere"), "install", "--ignore-scripts", "--prefer-offline", join(folder, result.filename));
}, 590_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

function trackedFiles(): readonly string[] {
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const deleted = execFileSync("git", ["ls-files", "-z", "--deleted"], { cwd: root, encoding: "utf8" }).split("\0");
  const files = execFileSync("git", options, { cwd: root, encoding: "utf8" }).split("\0");
  return files.filter((path) => path !== "" && !deleted.includes(path));
}

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync("npm", [...args, "--no-audit", "--no-fund"], {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

it("the package brings compiled code, scripts and examples, and no sources or tests", () => {
  expect(packed).toEqual(expect.arrayContaining(["LICENSE", "dist/cli/main.js", "examples/bookshop.yaml"]));
  expect(packed).toEqual(
    expect.arrayContaining(
      ["page.html", "page.css", "page.js", "page.js.gz", "page.LICENSE"].flatMap((name) =>
        pageNames.map((page) => `dist/pages/built/${page}/${name}`),
      ),
    ),
  );
  expect(packed.some((path) => path.startsWith("dist/") && path.endsWith(".lua"))).toBe(true);
  const sources = packed.filter((path) => /\.ts$|^(test|tools|core|dataplane|pages|client|cli)\//.test(path));
  const meant = /^(?:examples\/(?:browser-app\/(?:src|openid|plain-http)|retro-board)\/|dist\/client\/[\w-]+\.d\.ts$)/;
  expect(sources.filter((path) => !meant.test(path))).toEqual([]);
});

it("the package brings the sample app with its backend, and nothing that was installed or built in it", () => {
  const app = packed.filter((path) => path.startsWith("examples/browser-app/"));
  expect(app).toEqual(
    expect.arrayContaining(
      [
        "README.md",
        "package.json",
        "index.html",
        "src/main.ts",
        "backend/project.yaml",
        "backend/seed/tasks.ndjson",
      ].map((path) => `examples/browser-app/${path}`),
    ),
  );
  expect(app.filter((path) => /\/(?:dist|node_modules)\/|package-lock/.test(path))).toEqual([]);
});

it("the package, installed elsewhere, says its version", async () => {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const output = execFileSync("npx", ["--no-install", "jsonplane", "--version"], {
    cwd: join(folder, "elsewhere"),
    env,
    encoding: "utf8",
  });
  expect(output.trim()).toBe(version);
});

it("the package, installed elsewhere, writes a first project and says how npx serves it", () => {
  const init = ["--no-install", "jsonplane", "init"];
  const output = execFileSync("npx", init, { cwd: join(folder, "elsewhere"), env, encoding: "utf8" });
  expect(output).toMatch(/^backend\/project\.yaml has a Project [\s\S]*\n {2}npx jsonplane dev backend\n$/);
  const check = ["--no-install", "jsonplane", "validate", "backend", "--strict"];
  const checked = execFileSync("npx", check, { cwd: join(folder, "elsewhere"), env, encoding: "utf8" });
  expect(checked).toBe("backend: 5 objects are valid\n");
});

it("the package, installed elsewhere, serves the examples and stops cleanly", async () => {
  const [port, adminPort] = [await freePort(), await freePort()];
  const ports = ["--port", String(port), "--admin-port", String(adminPort)];
  const examples = "node_modules/jsonplane/examples";
  const dev = spawn("npx", ["--no-install", "jsonplane", "dev", examples, ...ports, "--data", join(folder, "data")], {
    cwd: join(folder, "elsewhere"),
    env,
    // A group of its own, which gets the signal as a whole: what Ctrl-C does in a terminal.
    detached: true,
    stdio: ["ignore", "pipe", "inherit"],
  });
  guard(dev);
  await line(dev, "Ready");

  const notes = `http://127.0.0.1:${port}/default/open-notes/api/notes`;
  const created = await fetch(notes, { method: "POST", body: JSON.stringify({ text: "from a package" }) });
  expect(created.status).toBe(201);
  expect(await (await fetch(notes)).json()).toMatchObject({ count: 1, items: [{ text: "from a package" }] });

  const page = await fetch(`http://127.0.0.1:${port}/default/open-notes/docs`);
  const [viewer] = /docs\/viewer\.js\?v=[\w-]+/.exec(await page.text()) ?? [];
  const script = await fetch(`http://127.0.0.1:${port}/default/open-notes/${viewer}`);
  expect([script.status, (await script.text()).length > 1_000_000]).toEqual([200, true]);

  process.kill(-(dev.pid ?? 0), "SIGINT");
  await once(dev, "exit");
  await eventually(() => expect(fetch(notes)).rejects.toThrow());
});

/** Resolves when the process prints that line; refuses when it ends before. */
async function line(child: ChildProcess, wanted: string): Promise<void> {
  const output: string[] = [];
  if (child.stdout === null) throw new Error("its output is not read");
  for await (const text of createInterface({ input: child.stdout })) {
    if (text === wanted) {
      child.stdout.resume();
      return;
    }
    output.push(text);
  }
  throw new Error(`it ended before it said ${wanted}:\n${output.join("\n")}`);
}
