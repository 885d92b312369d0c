// What nobody but its owner may know of a guarded shop, and every text in which somebody else could
// read it: logs, Events, objects, descriptions, metrics, and what Redis saves. The fleet's Redis
// has to be started with `--rdbcompression no`.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { GuardedShop } from "../support/fleet/guarded-shop.ts";
import { send } from "../support/http/http-client.ts";
import type { TestRedis } from "../support/redis/redis.ts";

/**
 * Of the users ann and ben and the key web, the Project and the fleet: as their Secrets stand now.
 */
export async function secretsOf({ fleet, namespace }: GuardedShop): Promise<readonly string[]> {
  const read = (name: string, entry: string): Promise<string> => fleet.secret(namespace, name, entry);
  const ring = JSON.parse(await read("shop-signing", "ring")) as { readonly keys: readonly { readonly d: string }[] };
  const fleetRing = JSON.parse(await fleet.secret("jsonplane-system", "jsonplane-keyring", "keyring.json")) as {
    readonly names: string;
    readonly keys: readonly { readonly k: string }[];
  };
  const hashOf = async (secret: string): Promise<string> => {
    // Tokens carry the revision of a password: an HMAC, by a key that only the operator has.
    return (JSON.parse(await read(secret, "record")) as { readonly hash: string }).hash;
  };
  return [
    await read("web-api-key", "apiKey"),
    await read("ann-password", "password"),
    await read("of-ben", "password"),
    JSON.stringify(ring),
    ...ring.keys.map(({ d }) => d),
    fleetRing.names,
    ...fleetRing.keys.map(({ k }) => k),
    ...(await Promise.all(["ann-user-hash", "ben-user-hash"].map(hashOf))),
  ];
}

/** By where it is said. */
export async function everyOutput({ fleet, namespace }: GuardedShop): Promise<Readonly<Record<string, string>>> {
  const kubectl = (...args: readonly string[]): Promise<string> =>
    fleet.api.kubectl([...args, "--namespace", namespace]);
  const admins = [...fleet.operators, ...fleet.replicas].map(async ({ adminUrl }) => send(adminUrl, "/metrics"));
  return {
    objects: await kubectl("get", "jsonplane", "-o", "json", "--show-managed-fields"),
    descriptions: await kubectl("describe", "jsonplane"),
    "descriptions of Secrets": await kubectl("describe", "secrets"),
    Events: await kubectl("get", "events.events.k8s.io", "-o", "json"),
    "the operator's log": fleet.operators.map((operator) => operator.log()).join(""),
    "logs of replicas": fleet.replicas.map((replica) => replica.log()).join(""),
    metrics: (await Promise.all(admins)).map(({ text }) => text).join(""),
  };
}

/** As it is, and as the API server sends it and a careless log would show it. */
export function formsOf(secret: string): readonly string[] {
  // Its end depends on what follows it.
  return [
    secret,
    Buffer.from(secret)
      .toString("base64")
      .replace(/.{0,2}=*$/, ""),
  ];
}

export async function savedByRedis(server: TestRedis): Promise<string> {
  const redis = new Redis(server.url);
  await redis.save();
  redis.disconnect();
  return await readFile(join(server.dir, "dump.rdb"), "latin1");
}
