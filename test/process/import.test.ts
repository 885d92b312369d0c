// `jsonplane import` as a person runs it: between dev mode on SQLite and on Redis, with files that
// are not whole, and with processes that are killed on the way.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ExportWriter } from "../../core/transfer/export-writer.ts";
import { commandProcess, type DevProcess, devProcess, pastedDevProcess } from "../support/fleet/dev-process.ts";
import { send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { readExported } from "../support/transfer/exported.ts";

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: shop }
spec: { authentication: { policy: Disabled } }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: books }
spec:
  projectRef: { name: shop }
  schema: { type: object, properties: { count: { type: integer } } }
  indexes: [count]
---
apiVersion: jsonplane.io/v1alpha1
kind: RootKey
metadata: { name: settings }
spec: { projectRef: { name: shop } }
`;

let cwd = "";
let redis: TestRedis;
let ports: readonly [string, string];
const running: DevProcess[] = [];

function serve(at: 0 | 1): DevProcess {
  const store = at === 0 ? ["--data", "data"] : ["--data", "other", "--redis", redis.url];
  const dev = devProcess(["shop", "--port", ports[at], "--admin-port", "0", ...store], cwd);
  running.push(dev);
  return dev;
}

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane-import-"));
  mkdirSync(join(cwd, "shop"));
  writeFileSync(join(cwd, "shop", "shop.yaml"), manifests);
  redis = await startRedis();
  ports = [String(await freePort()), String(await freePort())];
  await Promise.all([serve(0).ready(), serve(1).ready()]);
});

afterAll(async () => {
  for (const each of running) await each.stop("SIGKILL");
  await redis?.stop();
  rmSync(cwd, { recursive: true, force: true });
});

const urlOf = (at: 0 | 1) => `http://127.0.0.1:${ports[at]}/default/shop`;

async function imported(at: 0 | 1, ...words: readonly string[]) {
  const command = commandProcess(["import", urlOf(at), ...words], cwd);
  return { code: await command.exit(), said: command.error() };
}

/** Without head and end, which have times. */
async function stored(at: 0 | 1): Promise<readonly string[]> {
  const { text } = await send(urlOf(at), "/default/shop/export");
  readExported(text);
  return text.split("\n").slice(1, -2);
}

const owners = ["user:ada", "apikey:robot", "external:corp/ada", "anonymous:anonymous"];

function objectTexts(first: number, count: number): readonly string[] {
  const odd = '{"b":18446744073709551615,"10":-0.0,"a":"\\u0000é€😀"}';
  return Array.from(
    { length: count },
    (_, at) => objectOf(first + at, { count: String(first + at), odd }, owners[at % owners.length]).text,
  );
}

function fileOf(texts: readonly string[], changed: (writer: ExportWriter) => readonly Buffer[] = () => []): string {
  const writer = new ExportWriter();
  const head = { exportedAt: "2026-03-01T12:00:00.000Z", resources: ["books"], rootKeys: ["settings"] };
  const lines = [
    writer.head(head),
    writer.objects("books", texts),
    writer.item({ kind: "value", rootKey: "settings", text: '{"theme":"dark"}' }),
    ...changed(writer),
  ];
  return Buffer.concat([...lines, writer.end()]).toString();
}

function put(name: string, text: string): string {
  writeFileSync(join(cwd, name), text);
  return name;
}

it("refuses a file that is not whole with the line, before anything is stored", async () => {
  const [head = "", one = "", two = "", ...others] = fileOf(objectTexts(0, 2)).split(/(?<=\n)/);
  const files = {
    truncated: [[head, one], /^jsonplane: truncated, line 3: The file is cut off here/],
    reordered: [[head, two, one, ...others], /line 3: .*doubled or moved/],
    doubled: [[head, one, one, two, ...others], /line 3: .*doubled or moved/],
    edited: [[head, one, two.replace('"count":1', '"count":7'), ...others], /line 5: The checksum differs/],
    foreign: [["title;price\n"], /line 1: This is no file of an export/],
  } as const;
  for (const [name, [lines, message]] of Object.entries(files)) {
    const { code, said } = await imported(0, put(name, lines.join("")));
    expect([name, code, said]).toEqual([name, 1, expect.stringMatching(message)]);
  }
  expect(await stored(0)).toEqual([]);
});

it("stores what the file comes to, with what changed while it was made", async () => {
  const changed = (writer: ExportWriter) => [
    writer.item({ kind: "changes" }),
    writer.item({ kind: "deleted", resource: "books", id: idOf(0) }),
    writer.item({ kind: "object", resource: "books", text: objectOf(1, { count: "5" }).text }),
    writer.item({ kind: "object", resource: "books", text: objectOf(1, { count: "6" }).text }),
  ];
  const file = put("changed.ndjson", fileOf(objectTexts(0, 3), changed));
  expect(await imported(0, file, "--dry-run")).toEqual({
    code: 0,
    said: expect.stringMatching(/^jsonplane: Would have imported: 3 created\njsonplane: Not tried: /),
  });
  expect(await imported(0, file)).toEqual({ code: 0, said: "jsonplane: Imported: 3 created\n" });
  expect((await stored(0)).map((line) => /"count":(\d+)/.exec(line)?.[1])).toEqual(["6", "2", undefined]);
  const again = await imported(0, file, "--mode", "replace");
  expect(again).toEqual({ code: 0, said: "jsonplane: Imported: 4 unchanged\n" });
  const wrong = put("wrong.ndjson", fileOf([objectOf(1, { count: "9" }).text, objectOf(2, { count: '"a"' }).text]));
  expect(await imported(0, wrong)).toEqual({
    code: 1,
    said: expect.stringMatching(
      /line 2: object_exists: .*`--mode replace`\n.*line 3: validation_failed: .*\n.*1 unchanged, 2 refused\n/,
    ),
  });
});

it("brings everything to another store and back, byte for byte", async () => {
  await imported(0, put("many.ndjson", fileOf(objectTexts(10, 3_000))), "--mode", "replace");
  const before = await stored(0);
  expect(before).toHaveLength(3_003);
  const program = join(import.meta.dirname, "../../bin/jsonplane");
  const there = pastedDevProcess(`sh -c '${program} export ${urlOf(0)} | ${program} import ${urlOf(1)}'`, cwd, {});
  expect([await there.exit(), there.error()]).toEqual([
    0,
    expect.stringContaining("jsonplane: Imported: 3003 created\n"),
  ]);
  expect(await stored(1)).toEqual(before);
  const back = pastedDevProcess(`sh -c '${program} export ${urlOf(1)} | ${program} import ${urlOf(0)} -'`, cwd, {});
  expect([await back.exit(), back.error()]).toEqual([
    0,
    expect.stringContaining("jsonplane: Imported: 3003 unchanged\n"),
  ]);
  const cut = pastedDevProcess(
    `sh -c 'curl -fsS ${urlOf(1)}/export | head -n 9 | ${program} import ${urlOf(0)} -'`,
    cwd,
    {},
  );
  expect([await cut.exit(), cut.error()]).toEqual([1, expect.stringMatching(/Standard input, line 10: .*cut off/)]);
});

it("goes on when the server was killed, and when the import was", { timeout: 180_000 }, async () => {
  const texts = objectTexts(10_000, 20_000);
  const file = put("large.ndjson", fileOf(texts));
  const first = commandProcess(["import", urlOf(1), file, "--mode", "replace"], cwd);
  await eventually(async () => expect(await countOf(1)).toBeGreaterThan(4_000), { withinMs: 60_000 });
  await running[1]?.stop("SIGKILL");
  await eventually(() => expect(first.error()).toContain("trying again"), { withinMs: 30_000 });
  await serve(1).ready();
  await eventually(async () => expect(await countOf(1)).toBeGreaterThan(8_000), { withinMs: 60_000 });
  await first.stop("SIGKILL");
  const second = await imported(1, file, "--mode", "replace");
  expect([second.code, second.said]).toEqual([0, expect.stringMatching(/created, .*unchanged/)]);
  const inFile = texts.map((text) => `{"resource":"books","object":${text}}`);
  expect((await stored(1)).filter((line) => /"count":[12]\d{4}[,}]/.test(line))).toEqual(inFile);
});

async function countOf(at: 0 | 1): Promise<number> {
  const reply = await send(urlOf(at), "/default/shop/api/books?_limit=1");
  return reply.json<{ readonly count: number }>().count;
}
