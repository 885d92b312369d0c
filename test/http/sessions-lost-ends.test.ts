// A session that was ended stays so where Redis acknowledged that and lost it.

import { afterEach, expect, it } from "vitest";
import { login, outcome, refresh } from "../support/http/api-calls.ts";
import { apikey, bearer, project, withKey, withResource, withUser } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = project("shop", withUser("alice"), withKey("admins", { role: "Administrators" }), withResource("books"));

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("is refused by replicas that start after Redis came back without its end, and listed by none", async () => {
  const redis = await startRedis();
  closing.push(() => redis.stop());
  const replica = async (namespace?: string): Promise<Served> => {
    const store = await openRedisStore({ url: redis.url });
    closing.push(() => store.close());
    const served = await serveFrom(store, [shop], namespace === undefined ? {} : { namespace });
    closing.push(() => served.plane.close());
    return served;
  };
  const one = await replica();
  const session = await login(one, "alice");
  await askRedis(redis.port, "SAVE");
  const path = `/sessions/${session.session_id}`;
  expect((await one.send(path, { method: "DELETE", as: bearer(session.access_token) })).status).toBe(204);
  await redis.kill("SIGKILL");
  await redis.restart();
  await eventually(
    async () => {
      const late = await replica(one.namespace);
      expect(outcome(await refresh(late, session.refresh_token))).toEqual([401, "invalid_credentials"]);
      expect((await late.send("/api/books", { as: bearer(session.access_token) })).status).toBe(401);
      expect((await late.send(path, { as: apikey("admins") })).status).toBe(404);
    },
    { withinMs: 60_000, everyMs: 500 },
  );
});
