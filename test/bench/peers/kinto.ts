// Kinto over its Redis backends, as its documentation starts it, with an account of its own. Its lists of records fail over Redis in
// this version (kinto-redis 2.1.0 knows an older signature), so they are not asked for.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requirePart } from "../../../tools/parts/part.ts";
import { kinto } from "../../../tools/parts/peers.ts";
import { basic } from "../../support/http/projects.ts";
import { freePort } from "../../support/process/free-port.ts";
import { startPart } from "../../support/process/part-process.ts";
import { bookText } from "../subjects.ts";
import { answers, ask, type Peer } from "./peer.ts";

/** `redis` = a Redis of its own. */
export async function startKinto(redis: string): Promise<Peer> {
  const program = await requirePart(process.env, kinto);
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-kinto-"));
  const port = await freePort();
  const file = join(folder, "kinto.ini");
  await writeFile(file, settings(port, redis.replace(/\/$/, "")));
  const base = `http://127.0.0.1:${port}/v1`;
  const part = await startPart({
    name: "kinto",
    program,
    args: ["start", "--ini", file],
    log: join(folder, "log"),
    temporary: folder,
    isUp: () => answers(`${base}/`),
  });
  await ask(`${base}/accounts/bench`, { method: "PUT", body: { data: { password: "bench" } } });
  const headers = { authorization: basic("bench", "bench") };
  await ask(`${base}/buckets/bench`, { method: "PUT", headers });
  await ask(`${base}/buckets/bench/collections/books`, { method: "PUT", headers });
  const records = `${base}/buckets/bench/collections/books/records`;
  const body = `{"data":${bookText(1)}}`;
  const { data } = await ask(records, { headers, body });
  const json = { ...headers, "content-type": "application/json" };
  return {
    name: "Kinto",
    requests: {
      "get, API key": { url: `${records}/${(data as { readonly id: string }).id}`, headers },
      "create, three indexes": { url: records, method: "POST", headers: json, body },
    },
    async stop() {
      await part.end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(port: number, redis: string): string {
  const backend = (name: string, database: number) =>
    `kinto.${name}_backend = kinto_redis.${name}\nkinto.${name}_url = ${redis}/${database}\n`;
  return `[server:main]
use = egg:waitress#main
host = 127.0.0.1
port = ${port}
threads = 4
[app:main]
use = egg:kinto
${backend("storage", 1)}${backend("cache", 2)}${backend("permission", 3)}kinto.includes = kinto.plugins.accounts
kinto.account_create_principals = system.Everyone
kinto.bucket_create_principals = system.Authenticated
multiauth.policies = account
multiauth.policy.account.use = kinto.plugins.accounts.authentication.AccountsAuthenticationPolicy
`;
}
