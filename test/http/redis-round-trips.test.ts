// What each kind of request costs in Redis, counted and never timed: a ratchet. More is a step back; less is good, and the
// table below is then to say so. The same holds on one Redis and on a Cluster.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import { unchangingKeyring } from "../../dataplane/config/follow-keyring.ts";
import { openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { eventually } from "../support/eventually.ts";
import { type Reply, type SentRequest, send } from "../support/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  cheapCost,
  project,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/projects.ts";
import { begunPublisher, openGateway } from "../support/publishing.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { startRedisCluster } from "../support/redis-cluster.ts";
import { counted, type RedisCosts, watchRedisCosts } from "../support/redis-cost.ts";

/** Round trips, commands, commands inside scripts. */
type Counts = readonly [number, number, number];

/**
 * `first`: of a replica that has just started, which reads the project, the credential and the resource's indexes as well.
 * `warm`: the same kind of request again.
 */
const costs: Readonly<Record<string, { readonly first: Counts; readonly warm: Counts }>> = {
  "get, API key": { first: [4, 4, 0], warm: [1, 1, 0] },
  "get, JWT": { first: [4, 4, 0], warm: [1, 1, 0] },
  "get of one's own, API key": { first: [4, 4, 2], warm: [1, 1, 2] },
  "get of an id that there is not": { first: [4, 4, 0], warm: [1, 1, 0] },
  "get of what the client has": { first: [4, 4, 0], warm: [1, 1, 0] },
  "a key that there is not": { first: [2, 2, 0], warm: [1, 1, 0] },
  list: { first: [4, 4, 3], warm: [1, 1, 3] },
  "list, sorted": { first: [5, 5, 4], warm: [1, 1, 4] },
  "list, filtered": { first: [5, 5, 5], warm: [1, 1, 5] },
  "list, filtered by a range": { first: [7, 7, 6], warm: [3, 3, 6] },
  "list, from a cursor on": { first: [4, 4, 3], warm: [1, 1, 3] },
  "list, chosen fields, without its count": { first: [4, 4, 3], warm: [1, 1, 3] },
  "list, one's own": { first: [4, 4, 3], warm: [1, 1, 3] },
  "list, one's own, sorted": { first: [5, 5, 5], warm: [1, 1, 5] },
  "create, three indexes": { first: [5, 5, 11], warm: [1, 1, 11] },
  "create that its schema refuses": { first: [3, 3, 0], warm: [0, 0, 0] },
  "PUT, one index of three": { first: [6, 6, 7], warm: [2, 2, 7] },
  "PUT under If-Match": { first: [6, 6, 7], warm: [2, 2, 7] },
  "PUT that changes nothing": { first: [4, 4, 0], warm: [1, 1, 0] },
  delete: { first: [6, 6, 13], warm: [2, 2, 13] },
  "key/value get": { first: [2, 2, 0], warm: [1, 1, 0] },
  "key/value get, an index in the path": { first: [2, 2, 2], warm: [1, 1, 2] },
  "key/value POST": { first: [3, 3, 5], warm: [1, 1, 5] },
  "key/value PUT": { first: [3, 3, 6], warm: [1, 1, 6] },
  "key/value DELETE": { first: [3, 3, 7], warm: [1, 1, 7] },
  "key/value POST without a credential": { first: [3, 3, 8], warm: [2, 2, 7] },
  login: { first: [4, 5, 14], warm: [2, 3, 14] },
  "login with a wrong password": { first: [3, 3, 4], warm: [1, 1, 4] },
  refresh: { first: [3, 3, 2], warm: [1, 1, 2] },
  "sessions of the project": { first: [4, 4, 6], warm: [1, 1, 6] },
  "the end of a session": { first: [7, 7, 8], warm: [4, 4, 8] },
  "the project's OpenAPI": { first: [2, 2, 0], warm: [0, 0, 0] },
};

interface Fixture {
  readonly ids: readonly string[];
  /** ETags of the objects. */
  readonly tags: readonly string[];
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Of further sessions, which may be ended. */
  readonly sessionIds: readonly string[];
}

interface Ask extends SentRequest {
  readonly path: string;
  readonly status: number;
}

const admin = apikey("admin");
const owner = apikey("owner");
const book = (at: number) => ({ title: `Book ${at}`, price: at, stock: at % 3 });

/** `time` tells the first request from the second, so that each of them changes something. */
const requests: Readonly<Record<string, (fixture: Fixture, time: number) => Ask>> = {
  "get, API key": ({ ids }) => ({ path: `/api/books/${ids[0]}`, as: admin, status: 200 }),
  "get, JWT": ({ ids, accessToken }) => ({ path: `/api/books/${ids[0]}`, as: bearer(accessToken), status: 200 }),
  "get of one's own, API key": ({ ids }) => ({ path: `/api/books/${ids[1]}`, as: owner, status: 200 }),
  "get of an id that there is not": () => ({
    path: "/api/books/01890000-0000-7000-8000-000000000000",
    as: admin,
    status: 404,
  }),
  "get of what the client has": ({ ids, tags }) => ({
    path: `/api/books/${ids[0]}`,
    headers: { "if-none-match": tags[0] ?? "" },
    as: admin,
    status: 304,
  }),
  "a key that there is not": ({ ids }) => ({ path: `/api/books/${ids[0]}`, as: apikey("nobody"), status: 401 }),
  list: () => ({ path: "/api/books", as: admin, status: 200 }),
  "list, sorted": () => ({ path: "/api/books?_sort=-price", as: admin, status: 200 }),
  "list, filtered": () => ({ path: "/api/books?stock=1", as: admin, status: 200 }),
  "list, filtered by a range": () => ({ path: "/api/books?stock:ge=1", as: admin, status: 200 }),
  "list, from a cursor on": () => ({ path: "/api/books?_cursor=&_limit=2", as: admin, status: 200 }),
  "list, chosen fields, without its count": () => ({
    path: "/api/books?_fields=title&_count=false",
    as: admin,
    status: 200,
  }),
  "list, one's own": () => ({ path: "/api/books", as: owner, status: 200 }),
  "list, one's own, sorted": () => ({ path: "/api/books?_sort=title", as: owner, status: 200 }),
  "create, three indexes": (_, time) => ({
    path: "/api/books",
    method: "POST",
    body: book(100 + time),
    as: admin,
    status: 201,
  }),
  "create that its schema refuses": () => ({
    path: "/api/books",
    method: "POST",
    body: { title: 1 },
    as: admin,
    status: 400,
  }),
  "PUT, one index of three": ({ ids }, time) => ({
    path: `/api/books/${ids[2]}`,
    method: "PUT",
    body: { stock: 1_000 + time },
    as: admin,
    status: 200,
  }),
  "PUT under If-Match": ({ ids, tags }, time) => ({
    path: `/api/books/${ids[8 + time]}`,
    method: "PUT",
    headers: { "if-match": tags[8 + time] ?? "" },
    body: { stock: 1_000 },
    as: admin,
    status: 200,
  }),
  "PUT that changes nothing": ({ ids }) => ({
    path: `/api/books/${ids[3]}`,
    method: "PUT",
    body: {},
    as: admin,
    status: 200,
  }),
  delete: ({ ids }, time) => ({ path: `/api/books/${ids[4 + time]}`, method: "DELETE", as: admin, status: 204 }),
  "key/value get": () => ({ path: "/json/kv/theme/colour", status: 200 }),
  "key/value get, an index in the path": () => ({ path: "/json/kv/list/0", status: 200 }),
  "key/value POST": () => ({ path: "/json/kv/list/-", method: "POST", body: "1", as: admin, status: 201 }),
  "key/value PUT": (_, time) => ({
    path: "/json/kv/theme/colour",
    method: "PUT",
    body: `"#33445${time}"`,
    as: admin,
    status: 200,
  }),
  "key/value DELETE": (_, time) => ({ path: `/json/kv/gone/k${time}`, method: "DELETE", as: admin, status: 200 }),
  "key/value POST without a credential": () => ({ path: "/json/open/list/-", method: "POST", body: "1", status: 201 }),
  login: () => ({ path: "/sessions", method: "POST", as: basic("ann"), status: 201 }),
  "login with a wrong password": () => ({
    path: "/sessions",
    method: "POST",
    as: basic("ann", "not hers"),
    status: 401,
  }),
  refresh: ({ refreshToken }) => ({ path: "/sessions/refresh", method: "POST", as: bearer(refreshToken), status: 200 }),
  "sessions of the project": () => ({ path: "/sessions", as: admin, status: 200 }),
  "the end of a session": ({ sessionIds }, time) => ({
    path: `/sessions/${sessionIds[time]}`,
    method: "DELETE",
    as: admin,
    status: 204,
  }),
  "the project's OpenAPI": () => ({ path: "/openapi.json", as: admin, status: 200 }),
};

const keyring = parseKeyring(newKeyringText());
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withKey("owner"),
  withUser("ann", { role: "Administrators" }),
  withResource("books", {
    indexes: ["title", "price", "stock"],
    schema: {
      type: "object",
      properties: { title: { type: "string" }, price: { type: "number" }, stock: { type: "integer" } },
    },
  }),
  withRootKey("kv", { initialValue: '{"theme":{"colour":"#334455"},"list":[1],"gone":{"k0":0,"k1":1}}' }),
  withRootKey("open", { initialValue: '{"list":[]}', access: { create: "Anyone" } }),
);

/** Configuration has a Redis of its own, so that what replicas do there by themselves is not in the store's statistics. */
let configuration: TestRedis;

beforeAll(async () => {
  configuration = await startRedis();
  const gateway = await openGateway(configuration.url);
  const publisher = await begunPublisher({ gateway, keyring });
  await publisher.publish(shop);
  await publisher.complete();
  gateway.disconnect();
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
      const url = `redis+cluster://${ports.map((port) => `127.0.0.1:${port}`).join(",")}`;
      return { url, ports, stop: () => cluster.stop() };
    }));
});

interface Servers {
  readonly url: string;
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

function countedOn(start: () => Promise<Servers>): void {
  let servers: Servers;
  let fixture: Fixture;
  let watch: RedisCosts;
  beforeAll(async () => {
    servers = await start();
    fixture = await onReplica(servers, fill);
    watch = watchRedisCosts(servers.ports);
  });
  afterAll(async () => {
    watch?.stop();
    await servers?.stop();
  });

  it.each(Object.keys(requests))("%s: takes as many round trips and commands as the table says", async (name) => {
    const asked = requests[name];
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
    expect(found, "[round trips, commands, commands inside scripts]; fewer? Write the lower numbers down").toEqual(
      costs[name],
    );
  });
}

/** A replica that has just started and is in step with the configuration; closed after `use`. */
async function onReplica<T>({ url }: Servers, use: (origin: string) => Promise<T>): Promise<T> {
  const config = await openRedisDirectory({
    url: configuration.url,
    keyring: unchangingKeyring(keyring),
    clock: systemClock,
    replica: "counted",
  });
  const store = alone(await createRedisStore({ url, clock: systemClock }));
  const listening = { host: "127.0.0.1", port: 0, adminPort: 0, passwordCost: cheapCost, writeLog: () => undefined };
  const plane = await startDataPlane({ ...listening, directory: config.directory, store });
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

function ask(origin: string, path: string, sent: SentRequest): Promise<Reply> {
  return send(origin, `/default/shop${path}`, sent);
}

async function fill(origin: string): Promise<Fixture> {
  const ids: string[] = [];
  const tags: string[] = [];
  for (let at = 0; at < 12; at += 1) {
    const as = at === 1 ? owner : admin;
    const created = await ask(origin, "/api/books", { method: "POST", body: book(at), as });
    expect(created.status).toBe(201);
    ids.push(created.json<{ id: string }>().id);
    tags.push(created.headers.etag ?? "");
  }
  // What a value was begun with is stored by its first write.
  for (const path of ["/json/kv/list/-", "/json/open/list/-"]) {
    expect((await ask(origin, path, { method: "POST", body: "2", as: admin })).status).toBe(201);
  }
  const logins: Record<string, string>[] = [];
  for (let at = 0; at < 3; at += 1) {
    logins.push((await ask(origin, "/sessions", { method: "POST", as: basic("ann") })).json<Record<string, string>>());
  }
  const [{ access_token: accessToken = "", refresh_token: refreshToken = "" } = {}, ...others] = logins;
  return { ids, tags, accessToken, refreshToken, sessionIds: others.map((login) => login["session_id"] ?? "") };
}
