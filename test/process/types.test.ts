// `jsonplane types` as a person runs it, beside dev mode.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runCommand } from "../../tools/parts/run-command.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { commandProcess, type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { eventually } from "../support/time/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const key = `
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: robot }
spec: { projectRef: { name: shop }, role: Administrators, access: Write }
`;

let cwd = "";
let running: DevProcess[] = [];

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane types-"));
  mkdirSync(join(cwd, "shop"));
  cpSync(join(root, "test/golden/types/shop.yaml"), join(cwd, "shop", "shop.yaml"));
  writeFileSync(join(cwd, "shop", "key.yaml"), key);
});

afterEach(async () => {
  for (const each of running) if (each.child.exitCode === null) await each.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

async function dev(): Promise<string> {
  const port = String(await freePort());
  const started = devProcess(["shop", "--port", port, "--admin-port", "0"], cwd);
  running.push(started);
  await started.ready();
  const [data = ""] = readdirSync(join(cwd, ".jsonplane"));
  const secret = readFileSync(join(cwd, ".jsonplane", data, "secrets", "default", "robot-api-key.yaml"), "utf8");
  writeFileSync(join(cwd, "key"), /^ *apiKey: (\S+)$/m.exec(secret)?.[1] ?? "");
  return `http://127.0.0.1:${port}/default/shop`;
}

function types(...words: readonly string[]): DevProcess {
  const started = commandProcess(["types", ...words], cwd);
  running.push(started);
  return started;
}

const read = (file: string) => readFileSync(join(cwd, file), "utf8");

/** What the compiler says of a file next to the types. */
async function errorsOf(text: string): Promise<string> {
  writeFileSync(join(cwd, "use.ts"), text);
  const compilerOptions = { strict: true, noEmit: true, target: "esnext", module: "esnext", types: [] };
  writeFileSync(join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  return (await runCommand(process.execPath, [compiler, "-p", cwd, "--pretty", "false"])).stdout;
}

it("makes the same types of a folder and of its URL, which what the project answers has", async () => {
  const base = await dev();
  const ofFolder = types("shop", "--out", "folder.ts");
  const ofUrl = types(`${base}/`, "--api-key-file", "key");
  expect([await ofFolder.exit(), await ofUrl.exit()]).toEqual([0, 0]);
  expect(ofFolder.error()).toBe("jsonplane: Wrote folder.ts\n");
  expect(ofUrl.out()).toBe(read("folder.ts"));
  const ask = async (path: string, method: string, body: object): Promise<string> =>
    (await send(base, `/default/shop/api/${path}`, { method, body, as: `apikey ${read("key")}` })).text;
  const sent = {
    title: "Emma",
    author: { name: "Jane Austen" },
    price: null,
    size: [1, 2],
    stock: { total: 1, a: true },
  };
  const created = await ask("books", "POST", sent);
  const { id } = JSON.parse(created) as { readonly id: string };
  const changed = await ask(`books/${id}`, "PUT", { price: 5 });
  const event = await ask("payment-events", "POST", { kind: "card", last4: "1234" });
  const lines = [
    'import type { Api, BookCreate, BookUpdate } from "./folder.ts";',
    'type Objects = { [name in keyof Api["resources"]]: Api["resources"][name]["object"] };',
    `export const sent: BookCreate = ${JSON.stringify(sent)};`,
    `export const change: BookUpdate = ${JSON.stringify({ price: 5 })};`,
    `export const books: Objects["books"][] = [${created}, ${changed}];`,
    `export const event: Objects["payment-events"] = ${event};`,
    "// @ts-expect-error: no such state",
    `export const wrong: Objects["books"] = ${created.replace('"new"', '"lost"')};`,
  ];
  expect(await errorsOf(lines.join("\n"))).toBe("");
});

it("needs the Project of --project to be valid, and no other", async () => {
  const wrong = read("shop/shop.yaml")
    .replaceAll("name: shop }", "name: lost }")
    .replaceAll("type: integer", "type: whole");
  writeFileSync(join(cwd, "shop", "lost.yaml"), wrong);
  const [shop, lost] = [types("shop", "--project", "default/shop"), types("shop", "--project", "default/lost")];
  expect([await shop.exit(), await lost.exit()]).toEqual([0, 1]);
  expect(shop.out()).toBe(readFileSync(join(root, "test/golden/types/generated/shop.ts"), "utf8"));
  expect(lost.error()).toContain("shop is not valid:\nshop/lost.yaml:");
});

it("types the code of the guide", async () => {
  const blocks = fencedBlocks(await readFile(join(root, "docs/how-to/typescript-types.md"), "utf8"));
  const [manifests, code] = ["yaml", "ts"].map((wanted) => blocks.find(({ language }) => language === wanted)?.text);
  writeFileSync(join(cwd, "shop", "shop.yaml"), manifests ?? "");
  rmSync(join(cwd, "shop", "key.yaml"));
  expect(await types("shop", "--out", "shop.ts").exit()).toBe(0);
  const wrong = '// @ts-expect-error: not indexed\nawait list({ state: "new" }, "state");';
  expect(await errorsOf(`${code}\n${wrong}`)).toBe("");
});

it("follows a folder and a URL with --watch; where manifests are wrong it says so, and the file stays", async () => {
  const base = await dev();
  const follow = [
    types("shop", "--watch", "--out", "folder.json", "--format", "json-schema"),
    types(base, "--watch", "--out", "url.json", "--format", "json-schema", "--api-key-file", "key"),
  ];
  const files = ["folder.json", "url.json"];
  await eventually(() =>
    expect(files.map((file) => Object.hasOwn(JSON.parse(read(file)).$defs, "Book"))).toEqual([true, true]),
  );
  const manifests = read("shop/shop.yaml");
  const before = read("folder.json");
  writeFileSync(join(cwd, "shop", "shop.yaml"), manifests.replace('type: [number, "null"]', "type: nothing"));
  await eventually(() => expect(follow[0]?.error()).toContain("folder.json stays as it is"));
  expect(follow[0]?.error()).toContain(
    "shop is not valid:\nshop/shop.yaml:23:22: ApiResource/default/books /spec/schema/properties/price/type",
  );
  expect(read("folder.json")).toBe(before);
  writeFileSync(join(cwd, "shop", "shop.yaml"), manifests.replace("title: Book\n", "title: Volume\n"));
  await eventually(() =>
    expect(files.map((file) => Object.hasOwn(JSON.parse(read(file)).$defs, "Volume"))).toEqual([true, true]),
  );
  expect(read("folder.json")).toBe(read("url.json"));
  expect(await Promise.all(follow.map((each) => each.stop()))).toEqual([0, 0]);
});

it.each([
  [
    "a folder with a mistake, with its position",
    ["wrong"],
    /^jsonplane: wrong is not valid:\nwrong\/a\.yaml:3:1: .+\n$/,
  ],
  ["a folder that is not there", ["nowhere"], /^jsonplane: nowhere: no such file or folder\n$/],
  ["a folder without a Project", ["empty"], /^jsonplane: empty: there is no Project here\n$/],
  [
    "a Project that the folder does not have",
    ["shop", "--project", "a/b"],
    /^jsonplane: shop has no Project a\/b, but default\/shop\n$/,
  ],
  ["--watch without a file", ["shop", "--watch"], /^jsonplane: --watch needs --out FILE\n$/],
  ["a URL where nobody listens", ["http://127.0.0.1:1/a/b"], /^jsonplane: http:\/\/127\.0\.0\.1:1 can't be reached/],
])("refuses %s", async (_, words, said) => {
  mkdirSync(join(cwd, "wrong"));
  mkdirSync(join(cwd, "empty"));
  writeFileSync(join(cwd, "wrong", "a.yaml"), "apiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata: {}\n");
  const refused = types(...words);
  expect(await refused.exit()).toBe(1);
  expect(refused.error()).toMatch(said);
  expect(refused.out()).toBe("");
});
