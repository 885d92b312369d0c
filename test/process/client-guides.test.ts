// The guides whose blocks in TypeScript are one program. When a guide was followed to its end, the
// compiler checks the program with the types that `jsonplane types` wrote, and Node runs it next to
// `jsonplane dev`. It prints what the guide says.

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { buildClient } from "../../tools/build-client.ts";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { typeErrors } from "./built-app.ts";
import { followInDev } from "./followed-in-dev.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const compilerOptions = {
  ...{ strict: true, noEmit: true, target: "es2024", lib: ["esnext", "dom", "dom.iterable"], module: "nodenext" },
  ...{ allowImportingTsExtensions: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
};
const closing: (() => Promise<unknown>)[] = [];
let folder = "";

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Follows the guide in `folder`, and writes its program there; what the program should print. */
async function follow(guide: string): Promise<string> {
  const markdown = await readFile(join(root, "docs/how-to", guide), "utf8");
  await mkdir(join(root, "out"), { recursive: true });
  folder = await mkdtemp(join(root, "out", "client-guide-"));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const { deviations, port } = await followInDev(markdown, { folder, closing });
  expect(deviations).toEqual([]);
  await buildClient(join(folder, "node_modules/@jsonplane/client"));
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  const blocks = fencedBlocks(markdown);
  const program = blocks.slice(blocks.findIndex(({ language }) => language === "ts"));
  const textOf = (wanted: string) => program.filter(({ language }) => language === wanted).map(({ text }) => text);
  await writeFile(join(folder, "guide.ts"), textOf("ts").join("\n").replaceAll(":8080", `:${port}`));
  return textOf("text").join("");
}

/** Types of other libraries don't all pass as strict a compiler. */
async function check(file: string, skipLibCheck = false): Promise<string> {
  const options = { ...compilerOptions, skipLibCheck };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: [file] }));
  return await typeErrors(folder);
}

it.each([
  ["use-the-client.md", "lin"],
  ["move-from-other-services.md", "ann"],
  ["tanstack-db-and-rxdb.md", "lin"],
])("%s passes the compiler, and prints what it says", async (guide, user) => {
  const said = await follow(guide);
  expect(await check("guide.ts", guide.startsWith("tanstack"))).toBe("");
  const [data = ""] = await readdir(join(folder, ".jsonplane"));
  const secret = await readFile(join(folder, ".jsonplane", data, `secrets/default/${user}-password.yaml`), "utf8");
  const PASSWORD = /^ *password: (\S+)$/m.exec(secret)?.[1] ?? "";
  const done = await runCommand(process.execPath, ["guide.ts"], { cwd: folder, env: { PASSWORD } });
  expect(done.code, lastWords(done, 30)).toBe(0);
  expect(done.stdout).toBe(said);
});

it("the compiler refuses what the project of the guide does not have", async () => {
  await follow("use-the-client.md");
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
    "// @ts-expect-error: null is no value of it",
    'books.upsert({ isbn: "1" }, { isbn: null });',
    "// @ts-expect-error: not a filter",
    'books.list({ filter: { "pages:starts": 1 } });',
    "// @ts-expect-error: not an order",
    'books.page({ sort: "tags" });',
    "// @ts-expect-error: without the field it may be missing",
    '(await books.get("1", { fields: ["pages"] })).title.length;',
    "// @ts-expect-error: a value of another type",
    'createClient<Api & { rootKeys: { settings: { visits: number } } }>({ url: "" }).rootKey("settings").set("visits", "9");',
    "// @ts-expect-error: a code that no problem has",
    'api.isProblem(undefined, "gone");',
  ];
  await writeFile(join(folder, "wrong.ts"), lines.join("\n"));
  expect(await check("wrong.ts")).toBe("");
});
