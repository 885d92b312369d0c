// PocketBase over its SQLite file: a collection with the books' fields and three indexes, asked with a superuser's token, whose rules
// are none, so that it does no more than jsonplane with an Administrators' key.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requirePart } from "../../../tools/parts/part.ts";
import { pocketBase } from "../../../tools/parts/peers.ts";
import { runCommand } from "../../../tools/parts/run-command.ts";
import { freePort } from "../../support/process/free-port.ts";
import { startPart } from "../../support/process/part-process.ts";
import { bookText } from "../subjects.ts";
import { answers, ask, type Peer } from "./peer.ts";

const account = { identity: "root@example.org", password: "benchmarks-only" };

export async function startPocketBase(objects: number): Promise<Peer> {
  const program = await requirePart(process.env, pocketBase);
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-pocketbase-"));
  // It takes a program of a cache folder for `go run`, which it would log every statement for.
  const data = ["--dir", join(folder, "data"), "--dev=false"];
  const made = await runCommand(program, ["superuser", "upsert", account.identity, account.password, ...data]);
  if (made.code !== 0) throw new Error(`PocketBase made no superuser: ${made.stdout}${made.stderr}`);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}/api`;
  const part = await startPart({
    name: "pocketbase",
    program,
    args: ["serve", `--http=127.0.0.1:${port}`, ...data],
    log: join(folder, "log"),
    temporary: folder,
    isUp: () => answers(`${base}/health`),
  });
  const { token } = await ask(`${base}/collections/_superusers/auth-with-password`, { body: account });
  const headers = { authorization: String(token) };
  await ask(`${base}/collections`, { headers, body: collection });
  const records = `${base}/collections/books/records`;
  const ids: string[] = [];
  for (let index = 0; index < objects; index += 1) {
    ids.push(String((await ask(records, { headers, body: bookText(index) }))["id"]));
  }
  const json = { ...headers, "content-type": "application/json" };
  return {
    name: "PocketBase",
    requests: {
      "get, API key": { url: `${records}/${ids[0]}`, headers },
      "list of 10": { url: `${records}?perPage=10`, headers },
      "list of 10, sorted": { url: `${records}?perPage=10&sort=-price`, headers },
      "create, three indexes": { url: records, method: "POST", headers: json, body: bookText(1) },
      PUT: {
        url: `${records}/${ids[0]}`,
        method: "PATCH",
        headers: json,
        body: '{"stock":@}',
        paths: ids.map((id) => new URL(`${records}/${id}`).pathname),
      },
    },
    async stop() {
      await part.end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const collection = {
  name: "books",
  type: "base",
  fields: [
    { name: "title", type: "text", required: true, max: 200 },
    { name: "author", type: "text", max: 200 },
    { name: "price", type: "number", required: true, min: 0 },
    { name: "stock", type: "number", min: 0, onlyInt: true },
    { name: "tags", type: "json" },
    { name: "published", type: "text", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
    { name: "blurb", type: "text", max: 2000 },
  ],
  indexes: ["title", "price", "stock"].map((field) => `CREATE INDEX books_${field} ON books (${field})`),
};
