// The guide docs/how-to/use-the-client.md: its blocks are one program, which the compiler checks
// and Node runs next to `jsonplane dev`. It prints what the guide says.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildClient } from "../../tools/build-client.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { fileNamed } from "../support/documents/fenced-blocks.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";
import { typeErrors } from "./built-app.ts";
import { blocksOf } from "./guide-app.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const compilerOptions = {
  ...{ strict: true, noEmit: true, target: "es2024", lib: ["esnext", "dom", "dom.iterable"], module: "nodenext" },
  ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
};
let folder = "";
let dev: DevProcess;
let blocks: Awaited<ReturnType<typeof blocksOf>> = [];
const textsOf = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text);

beforeAll(async () => {
  await mkdir(join(root, "out"), { recursive: true });
  folder = await mkdtemp(join(root, "out", "client-guide-"));
  blocks = await blocksOf("use-the-client.md");
  const manifest = blocks.find((block) => fileNamed(block) !== undefined)?.text ?? "";
  await mkdir(join(folder, "library"));
  await writeFile(join(folder, "library/library.yaml"), manifest);
  await buildClient(join(folder, "node_modules/@jsonplane/client"));
  const port = String(await freePort());
  const [api = "", ...parts] = textsOf("ts");
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await writeFile(join(folder, "api.ts"), api);
  await writeFile(join(folder, "guide.ts"), parts.join("\n").replaceAll(":8080", `:${port}`));
  dev = devProcess(["library", "--port", port, "--admin-port", "0"], folder);
  await dev.ready();
}, 300_000);

afterAll(async () => {
  await dev?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function check(file: string): Promise<string> {
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }));
  return await typeErrors(folder);
}

it("passes the compiler, and prints what it says", async () => {
  expect(await check("guide.ts")).toBe("");
  const [data = ""] = await readdir(join(folder, ".jsonplane"));
  const secret = await readFile(join(folder, ".jsonplane", data, "secrets/default/lin-password.yaml"), "utf8");
  const PASSWORD = /^ *password: (\S+)$/m.exec(secret)?.[1] ?? "";
  const done = await runCommand(process.execPath, ["guide.ts"], { cwd: folder, env: { PASSWORD } });
  expect(done.code, lastWords(done, 30)).toBe(0);
  expect(done.stdout).toBe(textsOf("text").join(""));
});

it("is refused by the compiler where it asks for what the project does not have", async () => {
  const lines = [
    'import { createClient } from "@jsonplane/client";',
    'import type { Api } from "./api.ts";',
    'const api = createClient<Api>({ url: "" });',
    "// @ts-expect-error: no such resource",
    'api.resource("films");',
    'const books = api.resource("books");',
    "// @ts-expect-error: the title is missing",
    "books.create({ pages: 1 });",
    "// @ts-expect-error: a value of another type",
    'books.update("1", { pages: "many" });',
    "// @ts-expect-error: not a filter",
    'books.list({ filter: { "pages:starts": 1 } });',
    "// @ts-expect-error: not an order",
    'books.page({ sort: "tags" });',
    "// @ts-expect-error: without the field it may be missing",
    '(await books.get("1", { fields: ["pages"] })).title.length;',
    "// @ts-expect-error: a value of another type",
    'api.rootKey("settings").set("open/0/from", 9);',
    "// @ts-expect-error: a code that no problem has",
    'api.isProblem(undefined, "gone");',
  ];
  await writeFile(join(folder, "wrong.ts"), lines.join("\n"));
  expect(await check("wrong.ts")).toBe("");
});
