// A replica that follows Redis and caches plans: what is published, withdrawn or forgotten reaches
// requests that found a plan, and leaves the plans of other projects alone.

import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { acknowledgementKey } from "../../core/config/config-keys.ts";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import { startDataPlane } from "../../dataplane/app.ts";
import type { Directory } from "../../dataplane/config/directory.ts";
import { openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Publisher } from "../../operator/publish/publisher.ts";
import { useEmptiedRedis } from "../support/fleet/emptied-redis.ts";
import { begunPublisher, publishWithoutHint } from "../support/fleet/publishing.ts";
import { unchangingKeyring } from "../support/fleet/unchanging-keyring.ts";
import { type IssuerKeyPair, keyPair, testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  bearer,
  changed,
  project,
  withConfig,
  withHosts,
  withKey,
  withoutKey,
  withResource,
} from "../support/http/projects.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { type ManualTime, manualTime } from "../support/time/manual-time.ts";

const keyring = parseKeyring(newKeyringText());
const readable = withResource("books", { scope: { read: "All" } });
const shop = project("shop", withKey("ci"), readable);
const rival = project("rival", withKey("ci"), readable);
const third = project("third", withKey("ci"), readable);
const never = 3_600_000;

let redis: TestRedis;
let redisClient: RedisClient;
let publisher: Publisher;
const closing: (() => Promise<void>)[] = [];

useEmptiedRedis(async (own) => {
  ({ redis, redisClient } = own);
  publisher = await begunPublisher({ redisClient, keyring });
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface FollowingPlane {
  readonly directory: Directory;
  /** Projects of which a change was said. */
  readonly reported: string[];
  ask(path: string, host?: string, as?: string): Promise<Reply>;
  /** So often that a plan is cached and found. */
  warm(path: string, host?: string): Promise<void>;
  /** By which requests wait for keys of external issuers. */
  readonly time: ManualTime;
}

async function serve(
  projects: readonly CompiledProject[],
  options: { readonly rereadMs?: number; readonly maxLoaded?: number } = {},
): Promise<FollowingPlane> {
  for (const parts of projects) await publisher.publish(parts);
  await publisher.complete();
  const followed = { url: redis.url, keyring: unchangingKeyring(keyring), clock: systemClock, replica: "r1" };
  const config = await openRedisDirectory({ ...followed, rereadMs: never, ...options });
  closing.push(() => config.close());
  const { directory } = config;
  const reported: string[] = [];
  directory.onChange((name) => reported.push(name));
  await eventually(() => expect(directory.synced()).toBe(true));
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  closing.push(() => store.close());
  const listening = { host: "127.0.0.1", port: 0, adminPort: 0, writeLog: () => undefined };
  const time = manualTime();
  const { wantKeys } = config;
  const plane = await startDataPlane({ ...listening, directory, store, timers: time.timers, wantKeys });
  closing.push(() => plane.close());
  const ask = (path: string, host = "plane.test", as = apikey("ci")): Promise<Reply> =>
    send(plane.url, path, { as, headers: { host } });
  const warm = async (path: string, host?: string): Promise<void> => {
    for (let time = 0; time < 3; time += 1) expect((await ask(path, host)).status).toBe(200);
    reported.length = 0;
  };
  return { directory, reported, ask, warm, time };
}

const shopBooks = "/default/shop/api/books";
const rivalBooks = "/default/rival/api/books";

it("refuses a key that was revoked with the first request after it hears of that, and other projects hear nothing", async () => {
  const { reported, ask, warm } = await serve([shop, rival]);
  await warm(rivalBooks);
  await warm(shopBooks);
  await publisher.publish(changed(shop, withoutKey("ci")));
  await eventually(() => expect(reported).toContain("default/shop"));
  expect((await ask(shopBooks)).code).toBe("invalid_credentials");
  expect((await ask(rivalBooks)).status).toBe(200);
  expect(new Set(reported)).toEqual(new Set(["default/shop"]));
});

it("refuses a key whose revocation it only finds by comparing revisions", async () => {
  const { reported, ask, warm } = await serve([shop], { rereadMs: 300 });
  await warm(shopBooks);
  await publishWithoutHint({ redisClient, keyring }, shop, changed(shop, withoutKey("ci")));
  await eventually(() => expect(reported).toContain("default/shop"));
  expect((await ask(shopBooks)).code).toBe("invalid_credentials");
});

it("goes by a changed policy, a project that is withdrawn, and one that is made again under its name", async () => {
  const { ask, warm } = await serve([shop]);
  await warm(shopBooks);
  await publisher.publish(changed(shop, withResource("books", { access: { read: "Nobody" } })));
  await eventually(async () => expect((await ask(shopBooks)).code).toBe("insufficient_access"));
  await publisher.publish(shop);
  await eventually(async () => expect((await ask(shopBooks)).status).toBe(200));
  await publisher.withdraw(shop.project);
  await eventually(async () => expect((await ask(shopBooks)).code).toBe("unknown_project"));
  await publisher.publish(changed(shop, withConfig({ uid: "another" }), withoutKey("ci"), withKey("other")));
  await eventually(async () => expect((await ask(shopBooks)).code).toBe("invalid_credentials"));
});

it("waits for a key of an external issuer, which it asks the operator for, and goes by the issuer's next versions", async () => {
  const [former, next] = [keyPair("1"), keyPair("2")];
  const corp = testIssuer("corp", {}, [former]);
  const withKeys = (...keys: readonly IssuerKeyPair[]) =>
    changed(shop, withIssuer(corp, { keys: keys.map(({ published }) => published) }));
  const { ask, time } = await serve([withKeys(former)]);
  const iat = Math.floor(systemClock.now() / 1_000);
  const [old, fresh] = [former, next].map((key) => bearer(corp.token({ iat, exp: iat + 300 }, { key })));
  const status = async (as?: string) => (await ask(shopBooks, "plane.test", as)).status;
  for (let n = 0; n < 3; n += 1) expect(await status(old)).toBe(200);
  const waiting = status(fresh);
  const acknowledgement = acknowledgementKey("r1");
  await eventually(async () => {
    const wanted = await redisClient.read(acknowledgement, "HGET", acknowledgement, "wantedKeys");
    expect(optionalText(wanted)).toBe('[{"project":"default/shop","issuer":"corp"}]');
  });
  await publisher.publish(withKeys(former, next));
  expect(await waiting).toBe(200);
  await time.advance(2_000);
  expect([await status(old), await status(fresh)]).toEqual([200, 200]);
  await publisher.publish(withKeys(next));
  await eventually(async () => expect([await status(old), await status(fresh)]).toEqual([401, 200]));
  await publisher.publish(shop);
  await eventually(async () => expect(await status(fresh)).toBe(401));
});

it("goes by a host that another project claims", async () => {
  const open = withResource("books", { access: { read: "Anyone" } });
  const { ask, directory, warm } = await serve([changed(shop, withHosts("a.test")), changed(rival, open)]);
  await warm("/api/books", "a.test");
  await warm(rivalBooks, "b.test");
  await publisher.publish(changed(shop, withHosts()));
  await publisher.publish(changed(rival, withoutKey("ci"), withHosts("a.test", "b.test")));
  await eventually(() => expect(directory.hostOwner("a.test")).toBe("default/rival"));
  await eventually(async () => expect((await ask("/api/books", "a.test")).code).toBe("invalid_credentials"));
  expect((await ask(rivalBooks, "b.test")).code).toBe("unknown_path");
});

it("keeps a project in memory that is used by its plans alone, and drops the plans of one that leaves memory", async () => {
  const { directory, reported, ask, warm } = await serve([shop, rival, third], { maxLoaded: 2 });
  const names = () => directory.loaded().map(({ config }) => config.name);
  await warm(shopBooks);
  await warm(rivalBooks);
  await ask(shopBooks);
  await ask("/default/third/api/books");
  expect(names().sort()).toEqual(["shop", "third"]);
  expect(reported).toEqual(["default/rival"]);
  expect((await ask(rivalBooks)).status).toBe(200);
});
