// What each kind of request costs in Redis, counted and never timed: a ratchet. More is a step
// back; less is good, and the table below is then to say so. The same holds on one Redis and on a
// Cluster.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { cheapCost } from "../support/http/projects.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { startRedisCluster } from "../support/redis/redis-cluster.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import {
  ask,
  type CountedFixture,
  countedProject,
  countedRequests,
  fillCounted,
  limitedProject,
} from "./counted-requests.ts";
import { counted, type RedisCosts, watchRedisCosts } from "./redis-cost.ts";

/** Round trips, commands, commands inside scripts. */
type Counts = readonly [number, number, number];

interface Cost {
  readonly first: Counts;
  readonly warm: Counts;
}

/**
 * `first`: of a replica that has just started, which reads the project, the credential and the
 * resource's indexes as well. `warm`: the same kind of request again. A page takes a script for its
 * ids and one command for its objects; those that the replica has not seen are read one by one by
 * another script, so that large ones end it in time.
 */
const costs: Readonly<Record<string, Cost>> = {
  "get, API key": { first: [4, 4, 0], warm: [1, 1, 0] },
  "get, JWT": { first: [4, 4, 0], warm: [1, 1, 0] },
  "get of one's own, API key": { first: [4, 4, 2], warm: [1, 1, 2] },
  "get of an id that there is not": { first: [4, 4, 0], warm: [1, 1, 0] },
  "get of what the client has": { first: [4, 4, 0], warm: [1, 1, 0] },
  "a key that there is not": { first: [2, 2, 0], warm: [1, 1, 0] },
  list: { first: [5, 5, 12], warm: [2, 2, 2] },
  "list, sorted": { first: [6, 6, 13], warm: [2, 2, 3] },
  "list, filtered": { first: [6, 6, 9], warm: [2, 2, 4] },
  "list, filtered by a range": { first: [7, 7, 14], warm: [3, 3, 14] },
  "list, from a cursor on": { first: [5, 5, 4], warm: [2, 2, 2] },
  "list, chosen fields, without its count": { first: [5, 5, 12], warm: [2, 2, 2] },
  "list, one's own": { first: [6, 6, 4], warm: [2, 2, 3] },
  "list, one's own, sorted": { first: [6, 6, 5], warm: [2, 2, 4] },
  "create, three indexes": { first: [5, 5, 11], warm: [1, 1, 11] },
  "create, three indexes, no list of one's own": { first: [5, 5, 7], warm: [1, 1, 7] },
  "PUT, one index of three, no list of one's own": { first: [6, 6, 5], warm: [2, 2, 5] },
  "create, three indexes, a unique rule": { first: [5, 5, 9], warm: [1, 1, 9] },
  "upsert that creates": { first: [6, 6, 11], warm: [2, 2, 11] },
  "create with an Idempotency-Key": { first: [6, 6, 13], warm: [2, 2, 13] },
  "its repetition": { first: [4, 4, 0], warm: [1, 1, 0] },
  "create that its schema refuses": { first: [3, 3, 0], warm: [0, 0, 0] },
  "PUT, one index of three": { first: [6, 6, 7], warm: [2, 2, 7] },
  "PUT under If-Match": { first: [6, 6, 7], warm: [2, 2, 7] },
  "PUT that changes nothing": { first: [4, 4, 0], warm: [1, 1, 0] },
  "PATCH by a merge patch": { first: [6, 6, 7], warm: [2, 2, 7] },
  "PATCH by a JSON Patch": { first: [6, 6, 7], warm: [2, 2, 7] },
  delete: { first: [6, 6, 13], warm: [2, 2, 13] },
  "key/value get": { first: [2, 2, 0], warm: [1, 1, 0] },
  "key/value get, an index in the path": { first: [2, 2, 2], warm: [1, 1, 2] },
  "key/value POST": { first: [3, 3, 3], warm: [1, 1, 3] },
  "key/value PUT": { first: [3, 3, 6], warm: [1, 1, 6] },
  "key/value PATCH": { first: [4, 4, 7], warm: [2, 2, 7] },
  "key/value DELETE": { first: [3, 3, 7], warm: [1, 1, 7] },
  // A script that counts by Redis' own time asks for it: TIME, inside the script.
  "key/value POST without a credential": { first: [3, 3, 7], warm: [2, 2, 6] },
  // A quota costs its sum in the script, and the first write of a second the figures of each
  // resource and root key, all at once.
  "create under quotas, three indexes": { first: [8, 8, 18], warm: [1, 1, 12] },
  "PUT under quotas, one index of three": { first: [9, 9, 14], warm: [2, 2, 8] },
  "key/value PUT under quotas": { first: [6, 6, 12], warm: [1, 1, 6] },
  // The place among failed logins is given back while the tokens are signed: under way together
  // with what stores the session, or not. One of them is TIME: the bounds of sessions go by Redis'
  // clock.
  login: { first: [5, 5, 21], warm: [3, 3, 21] },
  "login with a wrong password": { first: [3, 3, 5], warm: [1, 1, 5] },
  refresh: { first: [3, 3, 2], warm: [1, 1, 2] },
  "sessions of the project": { first: [4, 4, 6], warm: [1, 1, 6] },
  "the end of a session": { first: [7, 7, 8], warm: [4, 4, 8] },
  "the project's OpenAPI": { first: [2, 2, 0], warm: [0, 0, 0] },
};

/**
 * Whose round trips depend on what is quicker, or on how many nodes have it; the table has the
 * most.
 */
const overlapping: ReadonlySet<string> = new Set([
  "login",
  "create under quotas, three indexes",
  "PUT under quotas, one index of three",
  "key/value PUT under quotas",
]);

const keyring = parseKeyring(newKeyringText());
/**
 * Configuration has a Redis of its own, so that what replicas do there by themselves is not in the
 * store's statistics.
 */
let configuration: TestRedis;

beforeAll(async () => {
  configuration = await startRedis();
  const redisClient = await openRedisClient(configuration.url);
  const publisher = await begunPublisher({ redisClient, keyring });
  await publisher.publish(countedProject);
  await publisher.publish(limitedProject);
  await publisher.complete();
  redisClient.disconnect();
});
afterAll(() => configuration.stop());

describe("what a request costs in Redis", () => {
  describe("standalone", () =>
    countedOn(async () => {
      const redis = await startRedis();
      return { url: redis.url, ports: [redis.port], stop: () => redis.stop() };
    }));
  describe("in a Cluster", () =>
    countedOn(async () => {
      const cluster = await startRedisCluster(3);
      const ports = cluster.nodes.map((node) => node.port);
      return { url: cluster.url, ports, stop: () => cluster.stop() };
    }));
});

interface Servers {
  readonly url: string;
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

function countedOn(start: () => Promise<Servers>): void {
  let servers: Servers;
  let fixture: CountedFixture;
  let watch: RedisCosts;
  beforeAll(async () => {
    servers = await start();
    fixture = await onReplica(servers, fillCounted);
    watch = watchRedisCosts(servers.ports);
  });
  afterAll(async () => {
    watch?.stop();
    await servers?.stop();
  });

  it.each(Object.keys(countedRequests))(
    "%s: takes as many round trips and commands as the table says",
    async (name) => {
      const asked = countedRequests[name];
      const found = await onReplica(servers, async (origin) => {
        const once = async (time: number): Promise<Counts> => {
          const { path, status, ...sent } = asked?.(fixture, time) ?? { path: "", status: 0 };
          const { roundTrips, commands, inScripts } = await watch.of(async () => {
            const reply = await ask(origin, path, {
              ...sent,
              headers: { ...sent.headers, "x-request-id": counted },
            });
            expect({ status: reply.status, text: reply.text }).toMatchObject({ status });
          });
          return [roundTrips, commands, inScripts];
        };
        return { first: await once(0), warm: await once(1) };
      });
      const stated = costs[name];
      const compared = stated && overlapping.has(name) ? noMoreTrips(found, stated) : found;
      const meaning = "[round trips, commands, commands inside scripts]; fewer? Write the lower numbers down";
      expect(compared, meaning).toEqual(stated);
    },
  );
}

/** `found` with the stated round trips, unless it has more. */
function noMoreTrips(found: Cost, stated: Cost): Cost {
  const trips = (time: keyof Cost): Counts => [
    Math.max(found[time][0], stated[time][0]),
    found[time][1],
    found[time][2],
  ];
  return { first: trips("first"), warm: trips("warm") };
}

/** A replica that has just started and is in step with the configuration; closed after `use`. */
async function onReplica<T>({ url }: Servers, use: (origin: string) => Promise<T>): Promise<T> {
  const config = await openRedisDirectory({
    url: configuration.url,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    replica: "counted",
  });
  const store = alone(await openRedisStore({ url }));
  const listening = { host: "127.0.0.1", port: 0, adminPort: 0, passwordCost: cheapCost, writeLog: () => undefined };
  // Nothing that a replica knows grows old, and nothing is looked at because it is time for it,
  // however long a busy machine takes.
  const time = { clock: manualClock(Date.now()), quotaRoundMs: 3_600_000 };
  const plane = await startDataPlane({ ...listening, ...time, directory: config.directory, store });
  try {
    await eventually(() => expect(config.directory.synced()).toBe(true));
    return await use(plane.url);
  } finally {
    await plane.close();
    await store.close();
    await config.close();
  }
}

/** Without the reader of ended sessions, which asks the store's Redis by itself. */
function alone(store: Store): Store {
  return { ...store, followEndedSessions: async () => ({ stop: async () => undefined }) };
}
