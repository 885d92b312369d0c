// `jsonplane export` as a person runs it, beside dev mode.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommand } from "../../tools/parts/run-command.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { programFile } from "../support/fleet/program-process.ts";
import { type Reply, type SentRequest, send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { applied, readExported } from "../support/transfer/exported.ts";

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: shop }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: books }
spec: { projectRef: { name: shop }, schema: { type: object }, changes: {} }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: drafts }
spec: { projectRef: { name: shop }, schema: { type: object } }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: admin }
spec: { projectRef: { name: shop }, role: Administrators, access: Write }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: user }
spec: { projectRef: { name: shop } }
`;

let cwd = "";
let port = "";
let dev: DevProcess;
const books: string[] = [];

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane export-"));
  mkdirSync(join(cwd, "shop"));
  writeFileSync(join(cwd, "shop", "shop.yaml"), manifests);
  port = String(await freePort());
  dev = devProcess(["shop", "--port", port, "--admin-port", "0"], cwd);
  await dev.ready();
  const [data = ""] = readdirSync(join(cwd, ".jsonplane"));
  for (const name of ["admin", "user"]) {
    const secret = readFileSync(join(cwd, ".jsonplane", data, "secrets", "default", `${name}-api-key.yaml`), "utf8");
    writeFileSync(join(cwd, name), /^ *apiKey: (\S+)$/m.exec(secret)?.[1] ?? "");
  }
  writeFileSync(join(cwd, "other"), "jp_key_of_another");
  for (let n = 0; n < 5; n += 1) books.push((await ask("/api/books", { method: "POST", body: { n } })).text);
});

afterAll(async () => {
  await dev.stop("SIGKILL");
  rmSync(cwd, { recursive: true, force: true });
});

async function ask(path: string, sent: SentRequest): Promise<Reply> {
  const as = `apikey ${readFileSync(join(cwd, "admin"), "utf8")}`;
  return await send(`http://127.0.0.1:${port}`, `/default/shop${path}`, { as, ...sent });
}

const run = (...words: readonly string[]) => runFor("", ...words);

async function runFor(path: string, ...words: readonly string[]) {
  const url = `http://127.0.0.1:${port}/default/shop${path}`;
  const { code, stdout, stderr } = await runCommand(process.execPath, [programFile, "export", url, ...words], { cwd });
  return { code, out: stdout, error: stderr };
}

const fileOf = (name: string) => readFileSync(join(cwd, name));
const key = ["--api-key-file", "admin"];

it("writes everything to a file, which is there once it is complete and is for its owner alone", async () => {
  const { code, out, error } = await run(...key, "--out", "all.ndjson");
  expect([code, out, error]).toEqual([
    0,
    "",
    expect.stringMatching(/^jsonplane: Exported 5 lines, \d kB to all\.ndjson\n$/),
  ]);
  expect([...applied([readExported(fileOf("all.ndjson"))]).values()]).toEqual(books);
  expect(statSync(join(cwd, "all.ndjson")).mode & 0o777).toBe(0o600);
  expect(existsSync(join(cwd, "all.ndjson.part"))).toBe(false);
});

it("prints it without a file, and goes on with one that was broken off", async () => {
  const { out } = await run(...key, "--resource", "books");
  expect([...applied([readExported(out)]).values()]).toEqual(books);
  // After the second object, and within the third.
  const lines = out.split("\n");
  writeFileSync(join(cwd, "cut.ndjson.part"), `${lines.slice(0, 3).join("\n")}\n${lines[3]?.slice(0, 20)}`);
  const { code, error } = await run(...key, "--resource", "books", "--out", "cut.ndjson", "--continue");
  expect([code, error]).toEqual([0, expect.stringContaining("Exported 5 lines")]);
  expect([...applied([readExported(fileOf("cut.ndjson"))]).values()]).toEqual(books);
});

it("exports what has changed since the export in a file", async () => {
  const since = (file: string, ...words: readonly string[]) => run(...key, "--since", file, ...words);
  await run(...key, "--resource", "books", "--out", "first.ndjson");
  const added = await ask("/api/books", { method: "POST", body: { n: 5 } });
  const { out } = await since("first.ndjson", "--resource", "books");
  expect(readExported(out).items).toEqual([
    { kind: "changes" },
    { kind: "object", resource: "books", text: added.text },
  ]);
  await run(...key, "--out", "whole.ndjson");
  expect(await since("whole.ndjson")).toMatchObject({ code: 1, error: expect.stringContaining("has no position") });
});

it.each([
  [["--api-key-file", "user"], "answers 403 insufficient_access"],
  [[], /answers 401 authentication_required.*; name a file with a credential/],
  [["--api-key-file", "other"], /answers 401 invalid_credentials.*; the file that was named has no credential/],
  [[...key, "--resource", "nothing"], "no ApiResource `nothing`"],
  [[...key, "--out", "none/a.ndjson"], "none/a.ndjson.part can't be written"],
  [[...key, "--out", "b.ndjson", "--continue"], "there is no such file to go on with"],
  [[...key, "--continue"], "--continue needs --out"],
  [[...key, "--format", "csv"], "--format csv needs --resource with one name"],
  [[...key, "--format", "csv", "--resource", "nothing", "--out", "c.csv"], "answers 404"],
])("says why it can't with %j", async (words, why) => {
  expect(await run(...words)).toMatchObject({ code: 1, out: "", error: expect.stringMatching(why) });
});

it("says that it wants the base URL of a project, and not that of a collection", async () => {
  const { code, error } = await runFor("/api/books", ...key);
  expect([code, error]).toEqual([1, expect.stringMatching(/answers 404 not_found: .*; URL has to be the base URL/)]);
});

it("writes all pages of one resource as CSV, what the caller may read", async () => {
  for (let n = 0; n < 101; n += 1) await ask("/api/drafts", { method: "POST", body: {} });
  const { code, out } = await run(...key, "--format", "csv", "--resource", "drafts");
  const [header, ...records] = out.trimEnd().split("\r\n");
  expect([code, header, records.length]).toEqual([
    0,
    "id,_metadata.created,_metadata.creator,_metadata.creator_type",
    101,
  ]);
  expect(await run(...key, "--format", "csv", "--resource", "drafts", "--out", "drafts.csv")).toMatchObject({
    error: "jsonplane: Exported 7 kB to drafts.csv\n",
  });
  expect(fileOf("drafts.csv").toString()).toBe(out);
  expect(readdirSync(cwd).filter((name) => name.endsWith(".csv.part"))).toEqual([]);
  const own = await run("--api-key-file", "user", "--format", "csv", "--resource", "drafts");
  expect(own.out).toBe(`${header}\r\n`);
});
