// `npm run bench`: starts Redis JSON, jsonplane, bare fastify and json-server, lets each do the same work in turns, and prints
// ratios of one run. With --write it puts the table into docs/benchmarks.md. Only ratios mean anything: all share the cores.

import { writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { Redis } from "ioredis";
import { basic } from "../support/projects.ts";
import { startRedis } from "../support/redis.ts";
import { findLoader, type Load, type Loader, type LoadRequest } from "./load.ts";
import { measureLogins } from "./logins.ts";
import { median } from "./median.ts";
import { measureNeighbours, type Plane } from "./neighbours.ts";
import { type Addresses, type Operation, operations } from "./operations.ts";
import { operatorSections } from "./operator-report.ts";
import { startServer } from "./processes.ts";
import { type Row, table } from "./report.ts";
import { bookText } from "./subjects.ts";

const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const load = { connections: 64, seconds: Number(process.env.BENCH_SECONDS ?? 2) };
const objects = 1_000;

const redis = await startRedis();
const plane = await startServer<Plane & { owner: string }>("plane-server.ts", [redis.url]);
const bare = await startServer<{ port: number }>("bare-server.ts", [redis.url]);
const jsonServer = await startServer<{ port: number }>("json-server.ts", [String(objects)]);
try {
  const loader = await findLoader();
  const at = await prepare();
  process.stdout.write(`${rounds} rounds of ${load.seconds} s, ${load.connections} connections, by ${loader.name}\n`);
  const rows: Row[] = [];
  for (const operation of operations(at)) rows.push(await measure(loader.load, operation));
  const logins = await measureLogins(at.plane, basic("ann", "bench"));
  const neighbours = await measureNeighbours(loader.load, plane.says, bare.says);
  const cores = availableParallelism();
  const text = table({ rows, logins, neighbours, rounds, load, loader: loader.name, cores, objects });
  process.stdout.write(text);
  if (process.argv.includes("--write")) {
    const page = new URL("../../docs/benchmarks.md", import.meta.url);
    await writeFile(page, `${text}\n${await operatorSections()}`);
  }
} finally {
  await Promise.all([plane.stop(), bare.stop(), jsonServer.stop()]);
  await redis.stop();
}

async function prepare(): Promise<Addresses> {
  const { base, admin, owner } = plane.says;
  const client = new Redis(redis.url, { protocol: 2 });
  for (let index = 0; index < 10; index += 1) await client.call("JSON.SET", `bare:${index}`, "$", bookText(index));
  await client.call("JSON.SET", "bare:kv", "$", '{"theme":{"colour":"#334455"},"list":[]}');
  client.disconnect();
  const bookIds: string[] = [];
  for (let index = 0; index < objects; index += 1) {
    bookIds.push((await create(`${base}/api/books`, admin, index)).id);
    if (index % 10 === 0) await create(`${base}/api/notes`, index % 20 === 0 ? owner : admin, index);
  }
  const login = await fetch(`${base}/sessions`, { method: "POST", headers: { authorization: basic("ann", "bench") } });
  const { access_token: token } = (await login.json()) as { access_token: string };
  return {
    plane: base,
    admin,
    owner,
    token,
    bookIds,
    bare: `http://127.0.0.1:${bare.says.port}`,
    jsonServer: `http://127.0.0.1:${jsonServer.says.port}`,
  };
}

async function create(url: string, key: string, index: number): Promise<{ id: string }> {
  const headers = { authorization: `apikey ${key}`, "content-type": "application/json" };
  const reply = await fetch(url, { method: "POST", headers, body: bookText(index) });
  if (reply.status !== 201) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { id: string };
}

/** By turns, so that a machine whose speed drifts treats all alike. */
async function measure(loader: Loader, operation: Operation): Promise<Row> {
  const loads: Record<"plane" | "bare" | "jsonServer", Load[]> = { plane: [], bare: [], jsonServer: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const who of ["plane", "bare", "jsonServer"] as const) {
      const request: LoadRequest | undefined = operation[who];
      if (request) loads[who].push(await loader(request, load));
    }
  }
  process.stdout.write(`${operation.name}: ${Math.round(median(loads.plane.map((each) => each.perSecond)))}/s\n`);
  return { name: operation.name, budget: operation.budget, ...loads };
}
