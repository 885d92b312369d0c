// `jsonplane erase` as a person runs it, beside dev mode: what one user has created is handed out,
// and is gone for everybody.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { commandProcess, type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { list, make } from "../support/http/api-calls.ts";
import { type SentRequest, send } from "../support/http/http-client.ts";
import { freePort } from "../support/process/free-port.ts";

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: club }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: notes }
spec: { projectRef: { name: club }, changes: {}, schema: { type: object } }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: wiki }
spec: { projectRef: { name: club }, access: { scope: { read: All } }, schema: { type: object } }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiResource
metadata: { name: orders }
spec: { projectRef: { name: club }, access: { delete: Nobody }, schema: { type: object } }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: privacy }
spec: { projectRef: { name: club }, role: Administrators, access: Write }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: ada }
spec: { projectRef: { name: club }, access: Write }
`;

let cwd = "";
let dev: DevProcess;
let origin = "";
const keyOf: Record<string, string> = {};
const club = { send: (path: string, sent?: SentRequest) => send(origin, `/default/club${path}`, sent) };

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "jsonplane-erase-"));
  mkdirSync(join(cwd, "club"));
  writeFileSync(join(cwd, "club", "club.yaml"), manifests);
  const port = String(await freePort());
  origin = `http://127.0.0.1:${port}`;
  dev = devProcess(["club", "--port", port, "--admin-port", "0"], cwd);
  await dev.ready();
  const [data = ""] = readdirSync(join(cwd, ".jsonplane"));
  for (const name of ["privacy", "ada"]) {
    const secret = readFileSync(join(cwd, ".jsonplane", data, "secrets/default", `${name}-api-key.yaml`), "utf8");
    keyOf[name] = `apikey ${/^ *apiKey: (\S+)$/m.exec(secret)?.[1]}`;
    writeFileSync(join(cwd, name), keyOf[name].slice("apikey ".length));
  }
});

afterAll(async () => {
  await dev?.stop("SIGKILL");
  rmSync(cwd, { recursive: true, force: true });
});

async function erase(...words: readonly string[]) {
  const running = commandProcess(["erase", `${origin}/default/club`, "--owner", "apikey:ada", ...words], cwd);
  const code = await running.exit();
  return { code, lines: running.out().split("\n").slice(0, -1), error: running.error() };
}

const countOf = async (resource: string) => (await list(club, `${resource}?_limit=1`, keyOf["privacy"])).count;

it("exports and deletes what one owner has created, and nothing of others", async () => {
  for (let count = 0; count < 250; count += 1) await make(club, "notes", { count }, keyOf["ada"]);
  await make(club, "wiki", { page: 1 }, keyOf["ada"]);
  await make(club, "orders", {}, keyOf["ada"]);
  for (const resource of ["notes", "wiki"]) await make(club, resource, {}, keyOf["privacy"]);
  const found = "apikey:ada has created 252 objects: 250 of notes, 1 of orders, 1 of wiki";

  const dry = await erase("--api-key-file", "privacy", "--export", "ada.ndjson");
  expect(dry).toEqual({ code: 0, lines: [found, "Nothing was deleted; add --yes to delete"], error: "" });
  expect(readFileSync(join(cwd, "ada.ndjson"), "utf8").match(/"creator":"ada"/g)).toHaveLength(252);
  expect(statSync(join(cwd, "ada.ndjson")).mode & 0o777).toBe(0o600);
  expect((await erase("--api-key-file", "privacy", "--export", "ada.ndjson")).error).toContain("exist");

  const before = await club.send("/api/notes?_limit=1", { as: keyOf["privacy"] ?? "" });
  const position = encodeURIComponent(String(before.headers["changes-position"]));
  const { code, lines } = await erase("--api-key-file", "privacy", "--yes");
  expect([code, lines.slice(0, 2)]).toEqual([1, [found, "Deleted 251 objects: 250 of notes, 1 of wiki"]]);
  expect(lines[2]).toMatch(/^Left: 1 of orders, because .* answers 403 insufficient_access/);
  expect([await countOf("notes"), await countOf("wiki"), await countOf("orders")]).toEqual([1, 1, 1]);
  const changes = await club.send(`/api/notes?_position=${position}`, { as: keyOf["privacy"] ?? "" });
  expect(changes.text.match(/"event":"delete"/g)).toHaveLength(250);
});

it("is for administrators, and leaves no file behind where it is refused", async () => {
  const { code, error } = await erase("--api-key-file", "ada", "--export", "refused.ndjson");
  expect([code, error]).toEqual([1, expect.stringMatching(/answers 403 insufficient_access/)]);
  expect(readdirSync(cwd)).not.toContain("refused.ndjson");
});
