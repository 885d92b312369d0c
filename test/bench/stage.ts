// What the benchmarks of the data plane start: Redis JSON, jsonplane and the bare server, with the
// same objects in each.

import { Redis } from "ioredis";
import { basic } from "../support/http/projects.ts";
import { startRedis } from "../support/redis/redis.ts";
import { cpuOfProcess, cpuOfRedis } from "./cpu.ts";
import type { Addresses } from "./operations.ts";
import { startServer } from "./processes.ts";
import { bookText } from "./subjects.ts";

/** What plane-server.ts prints. */
export interface Plane {
  readonly base: string;
  readonly admin: string;
  readonly owner: string;
  /** A token of an external issuer. */
  readonly external?: string;
  /** URL of the port with its probes. */
  readonly probes: string;
  /** For another server of the same projects. */
  readonly keyring?: string;
  /** Another project of the same replica, with a key of its own. */
  readonly beside: { readonly base: string; readonly key: string };
}

export async function openStage(objects: number) {
  const redis = await startRedis();
  const plane = await startServer<Plane>("plane-server.ts", [redis.url]);
  const bare = await startServer<{ port: number }>("bare-server.ts", [redis.url]);
  const close = async (): Promise<void> => {
    await Promise.all([plane.stop(), bare.stop()]);
    await redis.stop();
  };
  try {
    await fillBare(redis.url, objects);
    const filled = await fillPlane(plane.says, objects);
    const at: Addresses = { ...filled, bare: `http://127.0.0.1:${bare.says.port}` };
    /** Microseconds so far, of the replica and of Redis. */
    const cpu = () => Promise.all([cpuOfProcess(plane.pid), cpuOfRedis(redis)]);
    return { at, cpu, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function fillBare(url: string, objects: number): Promise<void> {
  const client = new Redis(url, { protocol: 2 });
  for (let index = 0; index < objects; index += 1) await client.call("JSON.SET", `bare:${index}`, "$", bookText(index));
  await client.call("JSON.SET", "bare:kv", "$", '{"theme":{"colour":"#334455"},"list":[]}');
  client.disconnect();
}

/** Makes the books, a tenth as many notes of two owners, and a session. */
export async function fillPlane(plane: Plane, objects: number): Promise<Omit<Addresses, "bare">> {
  const { base, admin, owner, external } = plane;
  const bookIds: string[] = [];
  for (let index = 0; index < objects; index += 1) {
    bookIds.push((await createBook(`${base}/api/books`, admin, index)).id);
    if (index % 10 === 0) await createBook(`${base}/api/notes`, index % 20 === 0 ? owner : admin, index);
  }
  const login = await fetch(`${base}/sessions`, { method: "POST", headers: { authorization: basic("ann", "bench") } });
  const { access_token: token } = (await login.json()) as { access_token: string };
  return { plane: base, admin, owner, bookIds, token, ...(external !== undefined && { external }) };
}

export async function createBook(url: string, key: string, index: number): Promise<{ id: string }> {
  const headers = { authorization: `apikey ${key}`, "content-type": "application/json" };
  const reply = await fetch(url, { method: "POST", headers, body: bookText(index) });
  if (reply.status !== 201) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { id: string };
}
