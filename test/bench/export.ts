// How fast everything leaves a project, and how fast Redis gives the same objects to a bare client.

import { Agent, request } from "node:http";
import type { Redis } from "ioredis";
import { mapLimited } from "../../core/map-limited.ts";
import type { Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

export const exportedObjects = 100_000;
/** Of one command of the bare client, as many as an export reads at once. */
const keysPerRead = 250;

/** Makes what is exported. */
export async function fillForExport({ base, admin }: Plane): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const headers = { authorization: `apikey ${admin}`, "content-type": "application/json" };
  const create = (index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request(`${base}/api/unwatched`, { method: "POST", headers, agent }, (response) => {
        response.resume().once("end", resolve).once("error", reject);
      });
      sent.once("error", reject).end(bookText(index));
    });
  await mapLimited(
    Array.from({ length: exportedObjects }, (_, index) => index),
    64,
    create,
  );
  agent.destroy();
}

/** For a bare client. */
export async function keysOfExported(bare: Redis): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const keys of bare.scanStream({ match: "*unwatched*", count: 10_000, type: "ReJSON-RL" })) {
    found.push(...(keys as string[]));
  }
  if (found.length !== exportedObjects) throw new Error(`Redis has ${found.length} exportedObjects`);
  return found.sort();
}

/** Objects a second. */
export async function exportRate({ base, admin }: Plane): Promise<number> {
  const start = performance.now();
  const bytes = await new Promise<number>((resolve, reject) => {
    const headers = { authorization: `apikey ${admin}` };
    const sent = request(`${base}/export?_resource=unwatched`, { headers, agent: false }, (response) => {
      let received = 0;
      response.on("data", (piece: Buffer) => {
        received += piece.length;
      });
      response.once("end", () => resolve(received)).once("error", reject);
    });
    sent.once("error", reject).end();
  });
  if (bytes < exportedObjects * 500) throw new Error(`The export has ${bytes} bytes`);
  return perSecond(start);
}

/** Objects a second, of the same bytes. */
export async function bareReadRate(bare: Redis, keys: readonly string[]): Promise<number> {
  const start = performance.now();
  for (let at = 0; at < keys.length; at += keysPerRead) {
    await bare.call("JSON.MGET", ...keys.slice(at, at + keysPerRead), ".");
  }
  return perSecond(start);
}

function perSecond(start: number): number {
  return exportedObjects / ((performance.now() - start) / 1_000);
}
