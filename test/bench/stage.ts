// What every benchmark of the data plane starts: Redis JSON, jsonplane, the bare server and json-server, with the same data in each.

import { Redis } from "ioredis";
import { basic } from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import type { Addresses } from "./operations.ts";
import { type BenchServer, startServer } from "./processes.ts";
import { bookText } from "./subjects.ts";

export interface Stage {
  readonly redis: TestRedis;
  readonly plane: BenchServer<Plane>;
  readonly bare: BenchServer<{ readonly port: number }>;
  readonly at: Addresses;
  close(): Promise<void>;
}

/** What plane-server.ts prints. */
export interface Plane {
  readonly base: string;
  readonly admin: string;
  /** URL of the port with its probes. */
  readonly probes: string;
  /** Another project of the same replica, with a key of its own. */
  readonly beside: { readonly base: string; readonly key: string };
}

/** `external` = a token of an external issuer, which earlier versions don't have. */
export type OwnedPlane = Plane & { readonly owner: string; readonly external?: string };

export async function openStage(objects: number): Promise<Stage> {
  const redis = await startRedis();
  const plane = await startServer<OwnedPlane>("plane-server.ts", [redis.url]);
  const bare = await startServer<{ port: number }>("bare-server.ts", [redis.url]);
  const jsonServer = await startServer<{ port: number }>("json-server.ts", [String(objects)]);
  const close = async (): Promise<void> => {
    await Promise.all([plane.stop(), bare.stop(), jsonServer.stop()]);
    await redis.stop();
  };
  try {
    await fillBare(redis.url, objects);
    const { base, admin, owner } = plane.says;
    const at = {
      ...(await fillPlane(plane.says, objects)),
      plane: base,
      admin,
      owner,
      bare: `http://127.0.0.1:${bare.says.port}`,
      jsonServer: `http://127.0.0.1:${jsonServer.says.port}`,
    };
    return { redis, plane, bare, at, close };
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

/** Books as many, a tenth as many notes of two owners, and a session. */
export async function fillPlane(
  { base, admin, owner, external }: OwnedPlane,
  objects: number,
): Promise<Pick<Addresses, "bookIds" | "token" | "external">> {
  const bookIds: string[] = [];
  for (let index = 0; index < objects; index += 1) {
    bookIds.push((await createBook(`${base}/api/books`, admin, index)).id);
    if (index % 10 === 0) await createBook(`${base}/api/notes`, index % 20 === 0 ? owner : admin, index);
  }
  const login = await fetch(`${base}/sessions`, { method: "POST", headers: { authorization: basic("ann", "bench") } });
  const { access_token: token } = (await login.json()) as { access_token: string };
  return { bookIds, token, ...(external !== undefined && { external }) };
}

export async function createBook(url: string, key: string, index: number): Promise<{ id: string }> {
  const headers = { authorization: `apikey ${key}`, "content-type": "application/json" };
  const reply = await fetch(url, { method: "POST", headers, body: bookText(index) });
  if (reply.status !== 201) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { id: string };
}
