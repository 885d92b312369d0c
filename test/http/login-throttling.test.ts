// How failed logins are limited, over all replicas, without anybody being able to lock somebody
// else out.

import { expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { CompiledProject } from "../../core/config/types.ts";
import { hashPassword } from "../../core/password/hash-password.ts";
import { login, outcome } from "../support/http/api-calls.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  type Modifier,
  passwordOf,
  project,
  withKey,
  withResource,
  withUser,
} from "../support/http/projects.ts";
import {
  describeReplicas,
  describeServed,
  describeServedEmbedded,
  describeServedOnBothStores,
  type Served,
} from "../support/http/served.ts";
import { manualClock, offBy } from "../support/time/manual-clock.ts";

const minutes = 60_000;
const names = Array.from({ length: 12 }, (_, n) => `user-${n}`);
const shop = project(
  "shop",
  withKey("ci"),
  withUser("alice"),
  ...names.map((name) => withUser(name)),
  withResource("books"),
);
const behindProxy = { trustedProxies: ["127.0.0.1"] };

const attempt = (served: Served, username: string, password: string, from?: string) =>
  served.send("/sessions/", {
    method: "POST",
    as: basic(username, password),
    ...(from !== undefined && { headers: { "x-forwarded-for": from } }),
  });
const fail = async (served: Served, username: string, times: number, from?: string) => {
  for (let n = 0; n < times; n += 1) {
    expect(outcome(await attempt(served, username, "wrong", from))).toEqual([401, "invalid_credentials"]);
  }
};
const expectThrottled = (reply: Reply) => {
  expect(outcome(reply)).toEqual([429, "login_throttled"]);
  const wait = Number(reply.headers["retry-after"]);
  expect(wait).toBeGreaterThanOrEqual(1);
  expect(wait).toBeLessThanOrEqual(300);
};

describeServedOnBothStores("failed logins", (serve) => {
  it("of one user name from one address are ten in five minutes: then 429, for the right password as well", async () => {
    const served = await serve(shop);
    await fail(served, "alice", 10);
    expectThrottled(await attempt(served, "alice", "wrong"));
    expectThrottled(await attempt(served, "alice", passwordOf("alice")));
  });

  it("do not count logins that succeed", async () => {
    const served = await serve(shop);
    await fail(served, "alice", 9);
    for (let n = 0; n < 15; n += 1) await login(served, "alice");
    await fail(served, "alice", 1);
    expectThrottled(await attempt(served, "alice", passwordOf("alice")));
  });

  it("do not count headers that are no credential, nor refused tokens and keys", async () => {
    const served = await serve(shop);
    for (let n = 0; n < 30; n += 1) {
      await served.send("/sessions", { method: "POST", as: "Basic nonsense" });
      await served.send("/sessions", { method: "POST" });
      await served.send("/sessions/refresh", { method: "POST", as: "bearer a.b.c" });
      await served.send("/api/books", { as: "apikey wrong" });
    }
    expect((await attempt(served, "alice", passwordOf("alice"))).status).toBe(201);
  });

  it("count for names that do not exist as for those that do, so that neither is told from the other", async () => {
    const served = await serve(shop);
    await fail(served, "mallory", 10);
    expectThrottled(await attempt(served, "mallory", "wrong"));
  });

  it("of one user name never lock that user out at another address", async () => {
    const served = await serve(shop, behindProxy);
    for (const from of ["192.0.2.1", "192.0.2.2", "2001:db8::1"]) {
      await fail(served, "alice", 10, from);
      expectThrottled(await attempt(served, "alice", passwordOf("alice"), from));
    }
    expect((await attempt(served, "alice", passwordOf("alice"), "192.0.2.3")).status).toBe(201);
    expect((await attempt(served, "alice", passwordOf("alice"))).status).toBe(201);
  });

  it("of one user name leave the other users of an address alone", async () => {
    const served = await serve(shop);
    await fail(served, "user-1", 10);
    expect((await attempt(served, "alice", passwordOf("alice"))).status).toBe(201);
  });

  it("from one address are a hundred in five minutes over all user names", async () => {
    const served = await serve(shop, behindProxy);
    for (const name of names.slice(0, 10)) await fail(served, name, 10, "192.0.2.1");
    expectThrottled(await attempt(served, "alice", passwordOf("alice"), "192.0.2.1"));
    expect((await attempt(served, "alice", passwordOf("alice"), "192.0.2.2")).status).toBe(201);
  });

  it("from an IPv6 network of /64 are those of one address", async () => {
    const served = await serve(shop, behindProxy);
    for (let n = 0; n < 10; n += 1) await fail(served, "alice", 1, `2001:db8:0:1::${n + 1}`);
    expectThrottled(await attempt(served, "alice", "wrong", "2001:db8:0:1:ffff:ffff:ffff:ffff"));
    expect((await attempt(served, "alice", passwordOf("alice"), "2001:db8:0:2::1")).status).toBe(201);
  });

  it("from one address are those of one, also where a proxy writes the client's port behind it", async () => {
    const served = await serve(shop, behindProxy);
    for (let n = 0; n < 10; n += 1) await fail(served, "alice", 1, `192.0.2.1:${4711 + n}`);
    expectThrottled(await attempt(served, "alice", "wrong", "192.0.2.1:80"));
    expect((await attempt(served, "alice", passwordOf("alice"), "192.0.2.2:4711")).status).toBe(201);
  });

  it("are not spread over made-up addresses: X-Forwarded-For counts only from trusted proxies", async () => {
    const served = await serve(shop);
    for (let n = 0; n < 10; n += 1) await fail(served, "alice", 1, `192.0.2.${n}`);
    expectThrottled(await attempt(served, "alice", "wrong", "192.0.2.99"));
  });

  it("in one project do not count in another", async () => {
    const rival = project("rival", withUser("alice"));
    const served = await serve([shop, rival]);
    await fail(served, "alice", 10);
    const path = `/${served.namespace}/rival/sessions`;
    expect((await send(served.origin, path, { method: "POST", as: basic("alice") })).status).toBe(201);
  });

  it("leave sessions, refreshes and keys of the throttled alone", async () => {
    const served = await serve(shop);
    const session = await login(served, "alice");
    await fail(served, "alice", 10);
    expectThrottled(await attempt(served, "alice", passwordOf("alice")));
    expect((await served.send("/api/books", { as: bearer(session.access_token) })).status).toBe(200);
    const refreshed = await served.send("/sessions/refresh", { method: "POST", as: bearer(session.refresh_token) });
    expect(refreshed.status).toBe(200);
    expect((await served.send("/api/books", { as: apikey("ci") })).status).toBe(200);
  });
});

describeServedEmbedded("failed logins", (serve) => {
  it("are forgotten after five minutes, of one user name and of one address", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    for (const name of names.slice(0, 10)) await fail(served, name, 10);
    expectThrottled(await attempt(served, "user-1", passwordOf("user-1")));
    expectThrottled(await attempt(served, "alice", passwordOf("alice")));
    clock.advance(5 * minutes - 1000);
    expectThrottled(await attempt(served, "alice", passwordOf("alice")));
    clock.advance(1000);
    expect((await attempt(served, "alice", passwordOf("alice"))).status).toBe(201);
    await fail(served, "user-1", 10);
    expectThrottled(await attempt(served, "user-1", passwordOf("user-1")));
  });

  it("lock nobody out for longer when the replica's clock jumps ahead and comes back", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    clock.adjust(60 * minutes);
    await fail(served, "alice", 10);
    expectThrottled(await attempt(served, "alice", "wrong"));
    clock.adjust(-60 * minutes);
    expectThrottled(await attempt(served, "alice", passwordOf("alice")));
    clock.advance(5 * minutes);
    expect((await attempt(served, "alice", passwordOf("alice"))).status).toBe(201);
  });
});

describeServed("a flood of logins", (serve) => {
  it("is answered 503 with Retry-After beyond what may wait, while reads go on; all that are right get in later", async () => {
    const served = await serve(project("shop", withKey("ci"), await withSlowHash("alice"), withResource("books")));
    const flood = Array.from({ length: 200 }, () => attempt(served, "alice", passwordOf("alice")));
    const reads = Array.from({ length: 20 }, () => served.send("/api/books", { as: apikey("ci") }));
    expect((await Promise.all(reads)).map((reply) => reply.status)).toEqual(Array(20).fill(200));
    const replies = await Promise.all(flood);
    const busy = replies.filter((reply) => reply.status !== 201);
    expect(busy.length).toBeGreaterThan(0);
    expect(replies.length - busy.length).toBeGreaterThanOrEqual(64);
    for (const reply of busy) {
      expect(outcome(reply)).toEqual([503, "login_busy"]);
      expect(Number(reply.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    }
    expect((await attempt(served, "alice", passwordOf("alice"))).status).toBe(201);
  });
});

describeReplicas("failed logins", (serveTwice) => {
  it("count together, wherever they arrive", async () => {
    const [one, other] = await serveTwice(shop);
    await fail(one, "alice", 5);
    await fail(other, "alice", 5);
    expectThrottled(await attempt(one, "alice", passwordOf("alice")));
    expectThrottled(await attempt(other, "alice", passwordOf("alice")));
  });

  for (const seconds of [1.5, 301, -301]) {
    it(`are ten in five minutes also where the clocks of the replicas are ${seconds} s apart`, async () => {
      const others = { clock: offBy(systemClock, seconds * 1_000) };
      const replicas = await serveTwice(shop, {}, others);
      const statuses: number[] = [];
      for (let n = 0; n < 24; n += 1) {
        statuses.push((await attempt(replicas[n % 2] as Served, "alice", `wrong ${n}`)).status);
      }
      expect(statuses).toEqual([...Array(10).fill(401), ...Array(14).fill(429)]);
    });
  }

  it("are ten also when they all arrive at once", async () => {
    const planes = await serveTwice(shop);
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, n) => attempt(planes[n % 2] as Served, "alice", `wrong ${n}`)),
    );
    expect(replies.filter((reply) => reply.status === 401).length).toBe(10);
    expect(replies.filter((reply) => reply.status === 429).length).toBe(30);
  });
});

/**
 * A user whose password takes some milliseconds to compare, so that logins have to wait for one
 * another.
 */
async function withSlowHash(username: string): Promise<Modifier> {
  const passwordHash = await hashPassword(passwordOf(username), { memoryKiB: 4096, passes: 2, parallelism: 1 });
  const cheap = withUser(username);
  return (parts: CompiledProject) => {
    const made = cheap(parts);
    const user = made.users.get(username);
    return user ? { ...made, users: new Map(made.users).set(username, { ...user, passwordHash }) } : made;
  };
}
