// The client that docs/openapi.md shows: types generated from the example bookshop's own document,
// checked by the compiler, and run.

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openapiTypescript } from "../../tools/parts/openapi-typescript.ts";
import { requirePart } from "../../tools/parts/part.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { type FuzzedProject, tenantsOf } from "../fuzz/tenants.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { type FuzzedReplica, startFuzzed } from "../support/fleet/fuzzed-replica.ts";
import { send } from "../support/http/http-client.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
let folder = "";
let served: FuzzedReplica;
let bookshop: FuzzedProject;

beforeAll(async () => {
  // Inside the tree, where openapi-fetch is found.
  await mkdir(join(root, "out"), { recursive: true });
  folder = await mkdtemp(join(root, "out", "client-"));
  const tenants = await tenantsOf(7);
  served = await startFuzzed(tenants);
  const found = tenants[0]?.projects.find(({ parts }) => parts.project.name === "bookshop");
  if (found === undefined) throw new Error("There is no example bookshop");
  bookshop = found;
  const document = await send(served.origin, `${bookshop.base}/openapi.json`, { as: bookshop.auditor });
  await writeFile(join(folder, "openapi.json"), document.text);
  const program = await requirePart(process.env, openapiTypescript);
  const done = await runCommand(program, ["openapi.json", "--output", "bookshop.ts"], { cwd: folder });
  if (done.code !== 0) throw new Error(lastWords(done, 30));
  const shown = fencedBlocks(await readFile(join(root, "docs/openapi.md"), "utf8"));
  await writeFile(join(folder, "client.ts"), shown.find(({ language }) => language === "ts")?.text ?? "");
}, 300_000);

afterAll(async () => {
  await served?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function typeErrors(file: string): Promise<string> {
  const options = {
    compilerOptions: {
      ...{ strict: true, noEmit: true, target: "esnext", module: "nodenext", allowImportingTsExtensions: true },
      ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")], skipLibCheck: true },
    },
    files: [file],
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(options));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return (await runCommand(process.execPath, [tsc, "-p", folder])).stdout;
}

it("passes the compiler, and does what it says against the project", async () => {
  expect(await typeErrors("client.ts")).toBe("");
  const [, encoded = ""] = (bookshop.logins.get("grace") ?? "").split(" ");
  const [USERNAME = "", PASSWORD = ""] = Buffer.from(encoded, "base64").toString().split(/:(.*)/s);
  const env = { BASE_URL: served.origin + bookshop.base, USERNAME, PASSWORD };
  const done = await runCommand(process.execPath, ["client.ts"], { cwd: folder, env });
  expect([done.code, done.stderr]).toEqual([0, ""]);
  expect(done.stdout.split("\n")).toEqual(["1 Jane Austen", "true grace", "not_found", "09:00", "CHF", ""]);
});

it("is refused by the compiler where it asks for what the project does not have", async () => {
  const lines = [
    'import createClient from "openapi-fetch";',
    'import type { paths } from "./bookshop.ts";',
    "const client = createClient<paths>();",
    "// @ts-expect-error: no such resource",
    'await client.GET("/api/films");',
    "// @ts-expect-error: nobody may delete orders",
    'await client.DELETE("/api/orders/{id}", { params: { path: { id: "1" } } });',
    "// @ts-expect-error: the title is missing",
    'await client.POST("/api/books", { body: { author: { name: "A" }, price: 1 } });',
    "// @ts-expect-error: a value of another type",
    'await client.PUT("/api/books/{id}", { params: { path: { id: "1" } }, body: { price: "low" } });',
    "// @ts-expect-error: a filter of another type",
    'await client.GET("/api/books", { params: { query: { pages: "many" } } });',
    'const { error } = await client.GET("/api/books/{id}", { params: { path: { id: "1" } } });',
    "// @ts-expect-error: a code that no problem has",
    'console.log(error?.code === "gone");',
  ];
  await writeFile(join(folder, "wrong.ts"), lines.join("\n"));
  expect(await typeErrors("wrong.ts")).toBe("");
});
