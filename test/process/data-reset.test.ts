// `jsonplane data reset`: begins dev mode's data again, and leaves credentials as they are.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCommand } from "../../tools/parts/run-command.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";

const program = fileURLToPath(new URL("../../bin/jsonplane", import.meta.url));
const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: {name: shop}
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: {name: books}
spec: {projectRef: {name: shop}, schema: {}}
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: {name: films}
spec: {projectRef: {name: shop}, schema: {}}
---
apiVersion: jsonplane.io/v1alpha1
kind: RootKey
metadata: {name: flags}
spec: {projectRef: {name: shop}, initialValue: {dark: false}}
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: {name: web}
spec: {projectRef: {name: shop}, role: Administrators, access: Write}
`;

let cwd = "";
let port = "";
let dev: DevProcess | undefined;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane-reset-"));
  await mkdir(join(cwd, "manifests"));
  writeFileSync(join(cwd, "manifests/shop.yaml"), manifests);
});

afterEach(async () => {
  if (dev?.child.exitCode === null) await dev.stop("SIGKILL");
  rmSync(cwd, { recursive: true, force: true });
});

async function start(): Promise<void> {
  port = String(await freePort());
  dev = devProcess(["manifests", "--port", port, "--admin-port", String(await freePort())], cwd);
  await dev.ready();
}

const reset = (...words: readonly string[]) => runCommand(program, ["data", "reset", "manifests", ...words], { cwd });

function key(): string {
  const files = readdirSync(join(cwd, ".jsonplane"), { recursive: true, encoding: "utf8" });
  const file = files.find((name) => name.endsWith("web-api-key.yaml")) ?? "";
  return /^ *apiKey: (.*)$/m.exec(readFileSync(join(cwd, ".jsonplane", file), "utf8"))?.[1] ?? "";
}

async function ask(path: string, method = "GET", body?: unknown): Promise<unknown> {
  const headers = { authorization: `apikey ${key()}` };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return await (await fetch(`http://127.0.0.1:${port}/default/shop${path}`, { method, headers, ...sent })).json();
}

async function store(): Promise<void> {
  await ask("/api/books", "POST", { title: "Emma" });
  await ask("/api/films", "POST", { title: "M" });
  await ask("/json/flags/dark", "PUT", true);
}

const counts = async () => [
  ((await ask("/api/books")) as { count: number }).count,
  ((await ask("/api/films")) as { count: number }).count,
  await ask("/json/flags"),
];

it("deletes what is stored of one resource, or of all, and keeps the keys", async () => {
  await start();
  await store();
  const before = key();
  const refused = await reset();
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("another jsonplane (process")]);
  await dev?.stop();
  const one = await reset("--only", "books");
  expect([one.code, one.stdout]).toEqual([0, "default/shop/api/books: 1 object is deleted\n"]);
  await start();
  expect(await counts()).toEqual([0, 1, { dark: true }]);
  await dev?.stop();
  const all = await reset();
  expect(all.stdout).toBe(
    "default/shop/api/films: 1 object is deleted\ndefault/shop/json/flags: its value is deleted\n",
  );
  await start();
  expect(await counts()).toEqual([0, 0, { dark: false }]);
  expect(key()).toBe(before);
});

it("deletes nothing for a name that nothing has, and says what there is", async () => {
  await start();
  await store();
  await dev?.stop();
  const wrong = await reset("--only", "books,bucks");
  expect([wrong.code, wrong.stdout]).toEqual([1, ""]);
  expect(wrong.stderr).toContain("manifests has no resource or root key called bucks; it has default/shop/api/books, ");
  await start();
  expect(await counts()).toEqual([1, 1, { dark: true }]);
});

it("refuses a folder that was never served, and makes no data folder for it", async () => {
  const none = await reset();
  expect([none.code, none.stdout]).toEqual([1, ""]);
  expect(none.stderr).toContain("Nothing is stored for manifests: dev mode has never served it with the data folder");
  expect(readdirSync(cwd)).toEqual(["manifests"]);
});

it("leaves the data of a Project that was renamed since it was served, and deletes them by its name", async () => {
  await start();
  await store();
  await dev?.stop();
  writeFileSync(join(cwd, "manifests/shop.yaml"), manifests.replaceAll("name: shop}", "name: garden}"));
  const refused = await reset();
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain(
    "manifests has the Project default/garden, never served from here: nothing is deleted",
  );
  expect(refused.stderr).toContain(
    "Kept, because no manifest names it: default/shop/api/books (1 object), default/shop/api/films (1 object), default/shop/json/flags. To delete it: ",
  );
  expect(refused.stderr).toContain("data reset manifests --project default/shop\n");

  // Served under its new name, it has data of its own.
  await start();
  await dev?.stop();
  const empty = await reset();
  expect([empty.code, empty.stdout.split("\n")[0]]).toEqual([0, "Nothing is stored of default/garden"]);
  const one = await reset("--project", "default/shop", "--only", "films");
  expect([one.code, one.stdout]).toEqual([0, "default/shop/api/films: 1 object is deleted\n"]);
  const former = await reset("--project", "default/shop");
  expect([former.code, former.stdout]).toEqual([
    0,
    "default/shop/api/books: 1 object is deleted\ndefault/shop/json/flags: its value is deleted\n",
  ]);
  const again = await reset("--project", "default/shop");
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining("Nothing is stored of the Project default/shop; nothing is"),
  ]);
});

it("leaves the data of a resource whose manifest is gone, and deletes nothing while a file can't be read", async () => {
  await start();
  await store();
  await dev?.stop();
  writeFileSync(join(cwd, "manifests/shop.yaml"), `${manifests}---\nkind: [\n`);
  const unread = await reset();
  expect([unread.code, unread.stdout]).toEqual([1, ""]);
  expect(unread.stderr).toContain("fix it first, so that it is clear what to delete");
  writeFileSync(join(cwd, "manifests/shop.yaml"), manifests.replace("name: films", "name: albums"));
  const done = await reset();
  expect(done.code).toBe(0);
  expect(done.stdout).toContain("default/shop/api/books: 1 object is deleted\n");
  expect(done.stdout).toContain(
    "Kept, because no manifest names it: default/shop/api/films (1 object). To delete it: ",
  );
  expect(done.stdout).toContain("--project default/shop --only default/shop/api/films\n");
});
