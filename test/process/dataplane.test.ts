// Replicas as processes of their own, on one Redis, following one publisher.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { createPurges } from "../../operator/publish/purges.ts";
import { liveReplicas } from "../../operator/publish/replicas.ts";
import { newPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { list, make, type Sender } from "../support/http/api-calls.ts";
import { closeStreams, follow } from "../support/http/event-stream.ts";
import { type SentRequest, send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  changed,
  project,
  withKey,
  withoutKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const keyringText = newKeyringText();
const shop = project(
  "shop",
  withUser("ann"),
  withKey("admin", { role: "Administrators" }),
  withResource("books", { schema: { type: "object", properties: { title: { type: "string" } } }, indexes: ["title"] }),
  withRootKey("flags"),
);
const base = "/default/shop";

let folder: string;
let keyring: string;
let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
const replicas: Replica[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-fleet-"));
  keyring = join(folder, "keyring.json");
  await writeFile(keyring, keyringText, { mode: 0o600 });
  redis = await startRedis();
  redisClient = await openRedisClient(redis.url);
  publisher = newPublisher({ redisClient, keyring: parseKeyring(keyringText) });
  await publisher.begin();
  await publisher.publish(shop);
  await publisher.complete();
});

afterEach(async () => {
  closeStreams();
  for (const replica of replicas.splice(0)) await replica.stop("SIGKILL");
  redisClient.disconnect();
  await redis.stop();
  await rm(folder, { recursive: true });
});

async function start(name: string, untilReady = true): Promise<Replica> {
  const replica = await startReplica({ redis: redis.url, keyring, name, untilReady });
  replicas.push(replica);
  return replica;
}

describe("three replicas on one Redis", () => {
  it("let one of 64 writers win a race for one value, by POST and by PATCH", async () => {
    const schema = { type: "object", properties: { code: { type: "string", maxLength: 20 } } };
    const unique = [{ fields: [{ name: "code", path: ["code"] }] }];
    await publisher.publish(changed(shop, withResource("vouchers", { schema, unique })));
    const all = await Promise.all([start("first"), start("second"), start("third")]);
    const writers = Array.from({ length: 64 }, (_, n) => {
      const replica = all[n % 3] as Replica;
      return { send: (path: string, sent?: SentRequest) => replica.send(base + path, sent) };
    });
    const as = apikey("admin");
    const race = async (send: (writer: Sender, n: number) => Promise<{ readonly status: number }>) =>
      (await Promise.all(writers.map(send))).map(({ status }) => status).toSorted();
    const oneWins = (won: number) => [won, ...writers.slice(1).map(() => 409)];

    const body = { code: "race" };
    expect(await race((writer) => writer.send("/api/vouchers", { method: "POST", body, as }))).toEqual(oneWins(201));
    const made = await Promise.all(writers.map((writer, n) => make(writer, "vouchers", { code: `own ${n}` }, as)));
    const change = (writer: Sender, n: number) =>
      writer.send(`/api/vouchers/${made[n]?.id}`, { method: "PATCH", body: { code: "race-again" }, as });
    expect(await race(change)).toEqual(oneWins(200));
    const first = writers[0] as Sender;
    const found = await Promise.all(["race", "race-again"].map((code) => list(first, `vouchers?code=${code}`, as)));
    expect(found.map(({ count }) => count)).toEqual([1, 1]);
  });
});

describe("two replicas on one Redis", () => {
  it("serve the same data and follow one publisher", async () => {
    const [first, second] = await Promise.all([start("first"), start("second")]);
    const made = await first.send(`${base}/api/books`, { method: "POST", body: { title: "A" }, as: apikey("admin") });
    expect(made.status).toBe(201);
    const read = await second.send(`${base}/api/books?_sort=title`, { as: apikey("admin") });
    expect(read.json()).toMatchObject({ count: 1, items: [made.json()] });

    const { revision } = await publisher.publish(
      changed(shop, withResource("films"), withoutKey("admin"), withKey("other")),
    );
    await eventually(async () => {
      const states = await liveReplicas(redisClient);
      expect(states.map((state) => state.replica).toSorted()).toEqual(["first", "second"]);
      expect(states.every((state) => state.revision >= revision)).toBe(true);
    });
    for (const replica of [first, second]) {
      expect((await replica.send(`${base}/api/films`, { as: apikey("other") })).status).toBe(200);
      const revoked = await replica.send(`${base}/api/books`, { as: apikey("admin") });
      expect([revoked.status, revoked.code]).toEqual([401, "invalid_credentials"]);
    }
  });

  it("reset the streams of a caller who may no longer read", async () => {
    const changes = { retentionSeconds: 3600, maxEntries: 100 };
    const followed = changed(shop, withKey("clerk"), withResource("films", { changes }));
    await publisher.publish(followed);
    const all = await Promise.all([start("first"), start("second")]);
    const streams = await Promise.all(
      all.map(({ origin }) => follow({ origin, base }, "/api/films", { as: apikey("clerk") })),
    );
    await publisher.publish(changed(followed, withResource("films", { changes, access: { read: "Administrators" } })));
    for (const stream of streams) {
      expect(await stream.changes(1)).toMatchObject([{ event: "reset", data: { reason: "access" } }]);
    }
  });

  it("end a session for each other", async () => {
    const [first, second] = await Promise.all([start("first"), start("second")]);
    const login = (await first.send(`${base}/sessions`, { method: "POST", as: basic("ann") })).json<
      Record<string, string>
    >();
    const as = bearer(login.access_token ?? "");
    expect((await second.send(`${base}/api/books`, { as })).status).toBe(200);
    expect((await first.send(`${base}/sessions/${login.session_id}`, { method: "DELETE", as })).status).toBe(204);
    await eventually(async () => expect((await second.send(`${base}/api/books`, { as })).status).toBe(401));
  });

  it("carry out a purge order once, and say so", async () => {
    await Promise.all([start("first"), start("second")]);
    const [first] = replicas;
    for (let index = 0; index < 30; index += 1) {
      await first?.send(`${base}/api/books`, { method: "POST", body: { title: `${index}` }, as: apikey("admin") });
    }
    await first?.send(`${base}/json/flags/a`, { method: "PUT", body: 1, as: apikey("admin") });
    const purges = createPurges(redisClient, publisher);
    await purges.order("p-1", { what: "resource", project: { namespace: "default", name: "shop" }, name: "books" });
    await purges.order("p-2", { what: "rootkey", project: { namespace: "default", name: "shop" }, name: "flags" });
    await eventually(async () =>
      expect([await purges.isDone("p-1"), await purges.isDone("p-2")]).toEqual([true, true]),
    );
    expect((await first?.send(`${base}/api/books`, { as: apikey("admin") }))?.json()).toMatchObject({ count: 0 });
    expect((await first?.send(`${base}/json/flags`))?.text).toBe("{}");
    await purges.forget("p-1");
    expect(await purges.isDone("p-1")).toBe(false);
  });
});

describe("a replica", () => {
  it("is not ready before a complete configuration, and becomes so by itself", async () => {
    await redisClient.write("x", "FLUSHALL");
    const replica = await start("early", false);
    // The port of probes is open before the other one.
    await eventually(async () => expect((await replica.send(`${base}/api/books`)).code).toBe("project_unavailable"));
    expect(await replica.ready()).toBe(503);
    await publisher.begin();
    await publisher.publish(shop);
    await publisher.complete();
    await eventually(async () => expect(await replica.ready()).toBe(200));
  });

  it("waits for a Redis that is not there yet", async () => {
    await redis.kill();
    const replica = await start("patient", false);
    await eventually(() => expect(replica.log()).toContain("Redis unavailable at start"));
    const probe = async (path: string) => (await send(replica.adminUrl, path)).status;
    expect([await probe("/livez"), await probe("/readyz"), await probe("/startupz")]).toEqual([200, 503, 503]);
    await redis.restart();
    await publisher.begin().catch(() => undefined);
    await eventually(async () => {
      await publisher.begin();
      await publisher.publish(shop);
      await publisher.complete();
    });
    await eventually(async () => expect(await replica.ready()).toBe(200));
    expect([await probe("/livez"), await probe("/startupz"), await probe("/metrics")]).toEqual([200, 200, 200]);
  });

  it("serves projects to a new replica from Redis alone, with nobody publishing", async () => {
    redisClient.disconnect();
    const replica = await start("alone");
    expect((await replica.send(`${base}/json/flags`)).text).toBe("{}");
  });

  it("stops on SIGTERM with exit code 0 and takes itself off the list", async () => {
    const replica = await start("leaving");
    await eventually(async () =>
      expect((await liveReplicas(redisClient)).map((each) => each.replica)).toEqual(["leaving"]),
    );
    expect(await replica.stop()).toBe(0);
    expect(await liveReplicas(redisClient)).toEqual([]);
  });

  it("never logs a secret", async () => {
    const replica = await start("silent");
    const login = await replica.send(`${base}/sessions`, { method: "POST", as: basic("ann") });
    const { access_token = "", refresh_token = "" } = login.json<Record<string, string>>();
    await replica.send(`${base}/api/books?title=secret-filter`, { as: bearer(access_token) });
    await replica.send(`${base}/sessions/refresh`, { method: "POST", as: bearer(refresh_token) });
    await replica.stop();
    expect(replica.log()).toContain('"message":"Request"');
    for (const secret of [access_token, refresh_token, "s3cret", basic("ann").slice(6), "secret-filter", redis.url]) {
      expect(replica.log()).not.toContain(secret);
    }
  });

  it("refuses to start without a key ring, or with one that is none, and does not quote it", async () => {
    const broken = join(folder, "broken.json");
    await writeFile(broken, '{"names":"c2VjcmV0"}');
    for (const [file, message] of [
      [join(folder, "nowhere.json"), "can't be read"],
      [broken, '"keys" must be a list'],
    ] as const) {
      const replica = await startReplica({ redis: redis.url, keyring: file, name: "x", untilReady: false });
      expect(await replica.ended()).toBe(1);
      expect(replica.log()).toContain(message);
      expect(replica.log()).not.toContain("c2VjcmV0");
    }
  });
});
