// `jsonplane watch` as a person runs it, beside dev mode.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commandProcess, type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { type Reply, type SentRequest, send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";
import { eventually } from "../support/time/eventually.ts";

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: shop }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: books }
spec:
  projectRef: { name: shop }
  access: { scope: { read: All, write: All } }
  schema: { type: object, properties: { title: { type: string }, pages: { type: integer } } }
  changes: {}
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: drafts }
spec:
  projectRef: { name: shop }
  schema: { type: object, properties: { title: { type: string } } }
---
apiVersion: jsonplane.io/v1alpha1
kind: RootKey
metadata: { name: settings }
spec:
  projectRef: { name: shop }
  initialValue: { theme: red }
  changes: {}
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: robot }
spec:
  projectRef: { name: shop }
  role: Administrators
  access: Write
`;

let cwd = "";
let port = "";
let running: DevProcess[] = [];
let key = "";

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane watch-"));
  mkdirSync(join(cwd, "shop"));
  writeFileSync(join(cwd, "shop", "shop.yaml"), manifests);
  port = String(await freePort());
});

afterEach(async () => {
  for (const each of running) if (each.child.exitCode === null) await each.stop("SIGKILL");
  running = [];
  rmSync(cwd, { recursive: true, force: true });
});

async function dev(): Promise<DevProcess> {
  const started = devProcess(["shop", "--port", port, "--admin-port", "0"], cwd);
  running.push(started);
  await started.ready();
  expect(started.error()).toBe("");
  const [data = ""] = readdirSync(join(cwd, ".jsonplane"));
  const secret = readFileSync(join(cwd, ".jsonplane", data, "secrets", "default", "robot-api-key.yaml"), "utf8");
  key = /^ *apiKey: (\S+)$/m.exec(secret)?.[1] ?? "";
  writeFileSync(join(cwd, "key"), `${key}\n`);
  return started;
}

function watch(path: string, ...words: readonly string[]): DevProcess {
  const started = commandProcess(["watch", `http://127.0.0.1:${port}/default/shop${path}`, ...words], cwd);
  running.push(started);
  return started;
}

async function ask(path: string, sent: SentRequest = {}): Promise<Reply> {
  const reply = await send(`http://127.0.0.1:${port}`, `/default/shop${path}`, { as: `apikey ${key}`, ...sent });
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply;
}

async function make(text: string): Promise<string> {
  return (await ask("/api/books", { method: "POST", body: text })).json<{ id: string }>().id;
}

async function lines(watching: DevProcess, count: number): Promise<readonly (readonly string[])[]> {
  return await eventually(() => {
    const found = watching.out().split("\n").slice(0, -1);
    if (found.length < count)
      throw new Error(`${found.length} of ${count} lines: ${watching.out()}${watching.error()}`);
    return found.map((line) => line.split("  "));
  });
}

describe("jsonplane watch", () => {
  it("prints what is there and each change, also those made before it is connected again", async () => {
    const first = await dev();
    const old = await make('{"title":"old","pages":12345678901234567890}');
    const watching = watch("/api/books", "--list", "--api-key-file", "key");
    const one = watch(`/api/books/${old}`, "--api-key-file", "key", "-o", "json");
    expect(await lines(watching, 1)).toEqual([["put", old, expect.stringContaining('"pages":12345678901234567890')]]);
    await lines(one, 1);
    const added = await make('{"title":"added"}');
    await lines(watching, 2);
    await ask(`/api/books/${old}`, { method: "PUT", body: { title: "changed" } });
    await lines(watching, 3);
    await first.stop();
    const second = await dev();
    const late = await make('{"title":"late"}');
    await ask(`/api/books/${added}`, { method: "DELETE" });
    await ask(`/api/books/${old}`, { method: "DELETE" });
    const all = await lines(watching, 6);
    expect(all.slice(1)).toEqual([
      ["put", added, expect.stringContaining('"title":"added"')],
      ["put", old, expect.stringContaining('"title":"changed"')],
      ["put", late, expect.stringContaining('"title":"late"')],
      ["delete", added],
      ["delete", old],
    ]);
    expect((await lines(one, 3)).map(([data = ""]) => JSON.parse(data))).toMatchObject([
      { resource: "books", id: old, object: { title: "old" } },
      { resource: "books", id: old, object: { title: "changed" } },
      { resource: "books", id: old },
    ]);
    expect(watching.error()).toMatch(/^(jsonplane: [^\n]+; trying again\n)?$/);
    expect([await watching.stop("SIGINT"), await one.stop("SIGTERM")]).toEqual([0, 0]);
    await second.stop();
  });

  it("prints the value at a path of a root key, and says why it ends where it is refused", async () => {
    await dev();
    const watching = watch("/json/settings/theme", "--api-key-file", "key");
    await lines(watching, 1);
    await ask("/json/settings/theme", { method: "PUT", body: '"blue"' });
    expect(await lines(watching, 2)).toEqual([
      ["put", "settings/theme", '"red"'],
      ["put", "settings/theme", '"blue"'],
    ]);
    const refusal = async (...words: readonly [string, ...string[]]) => {
      const refused = watch(...words);
      return { code: await refused.exit(), out: refused.out(), error: refused.error() };
    };
    expect(await refusal("/api/books")).toEqual({
      code: 1,
      out: "",
      error: expect.stringMatching(/answers 401 authentication_required: .*--api-key-file/),
    });
    const drafts = await refusal("/api/drafts", "--api-key-file", "key");
    expect(drafts).toMatchObject({
      code: 1,
      error: expect.stringMatching(/answers 406 not_acceptable: .*changes: \{\}/),
    });
    const none = await refusal("/api/none", "--list", "--api-key-file", "key");
    expect(none).toMatchObject({ code: 1, error: expect.stringContaining("answers 404 unknown_resource: ") });
    const keyless = await refusal("/api/books", "--token-file", "none");
    expect(keyless).toMatchObject({ code: 1, error: expect.stringContaining("--token-file none can't be used: ") });
  });
});
