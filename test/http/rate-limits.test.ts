// How many requests a project and each of its callers have answered.

import { expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { ProjectRates } from "../../core/config/types.ts";
import { login, outcome } from "../support/http/api-calls.ts";
import { apikey, bearer, project, withKey, withLimits, withResource, withUser } from "../support/http/projects.ts";
import {
  describeReplicasEverywhere,
  describeServedEmbedded,
  describeServedEverywhere,
  type Served,
} from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock, offBy } from "../support/time/manual-clock.ts";

const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const shopWith = (rate: ProjectRates) =>
  project(
    "shop",
    withKey("ci"),
    withKey("app"),
    withUser("alice"),
    withResource("messages", { access: anyone }),
    withResource("ledger", { access: { ...anyone, read: "Administrators" } }),
    withLimits({ rate }),
  );
/**
 * So slow that nothing is added while a test runs: what Redis counts, it counts by its own time.
 */
const slowShop = shopWith({
  caller: { requestsPerSecond: 0.01, burst: 3 },
  project: { requestsPerSecond: 0.02, burst: 8 },
});
const shop = shopWith({ caller: { requestsPerSecond: 1, burst: 3 }, project: { requestsPerSecond: 2, burst: 8 } });

const ask = (served: Served, as?: string, from?: string) =>
  served.send("/api/messages", {
    ...(as !== undefined && { as }),
    ...(from !== undefined && { headers: { "x-forwarded-for": from } }),
  });

async function statuses(served: Served, times: number, as?: string): Promise<number[]> {
  const replies: number[] = [];
  for (let n = 0; n < times; n += 1) replies.push((await ask(served, as)).status);
  return replies;
}

describeServedEverywhere("a project with rates", (serve) => {
  it("answers a caller's burst, then 429 with Retry-After", async () => {
    const served = await serve(slowShop);
    expect(await statuses(served, 3, apikey("ci"))).toEqual([200, 200, 200]);
    const refused = await ask(served, apikey("ci"));
    expect(outcome(refused)).toEqual([429, "rate_limited"]);
    const wait = Number(refused.headers["retry-after"]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(100);
  });

  it("goes on by the rate", async () => {
    const served = await serve(shop);
    const many = await Promise.all(Array.from({ length: 60 }, () => ask(served, apikey("ci"))));
    expect(many.map((reply) => reply.status)).toContain(429);
    await eventually(async () => expect((await ask(served, apikey("ci"))).status).toBe(200));
  });

  it("counts each user, each key and each address without a credential by itself", async () => {
    const served = await serve(slowShop, { trustedProxies: ["127.0.0.1"] });
    expect(await statuses(served, 4, apikey("ci"))).toEqual([200, 200, 200, 429]);
    expect((await ask(served, apikey("app"))).status).toBe(200);
    expect((await ask(served, undefined, "192.0.2.1")).status).toBe(200);
    expect((await ask(served, undefined, "192.0.2.2")).status).toBe(200);
  });

  it("answers all of them together no more than its own rate", async () => {
    const served = await serve(slowShop);
    const session = (await login(served, "alice")).access_token;
    for (const as of [apikey("ci"), apikey("app")]) expect(await statuses(served, 3, as)).toEqual([200, 200, 200]);
    expect(await statuses(served, 3, bearer(session))).toEqual([200, 429, 429]);
  });

  it("says in RateLimit headers what its policy is and what is left, on answers and on refusals", async () => {
    const served = await serve(slowShop);
    const first = await ask(served, apikey("ci"));
    expect(first.headers["ratelimit-policy"]).toBe('"caller";q=3;w=300, "project";q=8;w=400');
    expect(first.headers.ratelimit).toBe('"caller";r=2;t=100, "project";r=7;t=50');
    await statuses(served, 2, apikey("ci"));
    const refused = await ask(served, apikey("ci"));
    expect(refused.headers.ratelimit).toBe('"caller";r=0;t=300, "project";r=5;t=150');
  });

  it("counts what a known caller may not do, and what is not understood", async () => {
    const served = await serve(slowShop);
    const paths = ["/api/ledger", "/api/messages?_limit=none", "/api/ledger", "/api/ledger"];
    const replies: number[] = [];
    for (const path of paths) replies.push((await served.send(path, { as: apikey("ci") })).status);
    expect(replies).toEqual([403, 400, 403, 429]);
  });

  it("counts neither preflights nor requests whose credential is refused", async () => {
    const served = await serve(slowShop);
    for (let n = 0; n < 20; n += 1) {
      expect((await served.send("/api/messages", { method: "OPTIONS" })).status).toBe(204);
      expect((await ask(served, "apikey wrong")).status).toBe(401);
    }
    expect((await ask(served, apikey("ci"))).status).toBe(200);
  });

  it("goes by a changed rate at once, and without one by none", async () => {
    const served = await serve(slowShop);
    expect((await statuses(served, 4, apikey("ci"))).at(-1)).toBe(429);
    served.change(withLimits({ rate: { caller: { requestsPerSecond: 1, burst: 1 } } }));
    expect((await ask(served, apikey("app"))).headers["ratelimit-policy"]).toBe('"caller";q=1;w=1');
    served.change((parts) => {
      const { rate: _, ...limits } = parts.project.limits;
      return { ...parts, project: { ...parts.project, limits } };
    });
    const free = await ask(served, apikey("ci"));
    expect([free.status, free.headers.ratelimit]).toEqual([200, undefined]);
  });

  it("counts what it refused, by whose rate it was", async () => {
    const served = await serve(slowShop);
    await statuses(served, 5, apikey("ci"));
    const metrics = await served.plane.metrics.registry.metrics();
    expect(metrics).toContain(`{namespace="${served.namespace}",project="shop",limit="caller"} 2`);
  });
});

describeServedEmbedded("a project with rates", (serve) => {
  it("answers a caller again when the time of Retry-After has passed, and goes on by the rate", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    expect((await statuses(served, 4, apikey("ci"))).at(-1)).toBe(429);
    expect((await ask(served, apikey("ci"))).headers["retry-after"]).toBe("1");
    clock.advance(1_000);
    expect(await statuses(served, 2, apikey("ci"))).toEqual([200, 429]);
  });

  it("locks nobody out when the replica's clock jumps ahead and comes back", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    clock.adjust(3_600_000);
    expect((await statuses(served, 4, apikey("ci"))).at(-1)).toBe(429);
    clock.adjust(-3_600_000);
    expect((await ask(served, apikey("ci"))).headers["retry-after"]).toBe("1");
    clock.advance(1_000);
    expect(await statuses(served, 2, apikey("ci"))).toEqual([200, 429]);
  });

  it("takes nothing from a caller for what the project's own rate refuses", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    const session = (await login(served, "alice")).access_token;
    for (const as of [apikey("ci"), apikey("app")]) expect(await statuses(served, 3, as)).toEqual([200, 200, 200]);
    expect(await statuses(served, 3, bearer(session))).toEqual([200, 429, 429]);
    clock.advance(500);
    expect(await statuses(served, 2, bearer(session))).toEqual([200, 429]);
  });
});

describeReplicasEverywhere("a project with rates", (serveTwice) => {
  it("answers no more on two replicas than on one", async () => {
    const replicas = await serveTwice(slowShop);
    const asked = replicas.flatMap((served) => Array.from({ length: 10 }, () => ask(served, apikey("ci"))));
    const answered = (await Promise.all(asked)).filter((reply) => reply.status === 200);
    expect(answered).toHaveLength(3);
  });

  for (const seconds of [1.5, 301, -301]) {
    it(`answers no more than that where the clocks of the replicas are ${seconds} s apart`, async () => {
      const quick = shopWith({ caller: { requestsPerSecond: 10, burst: 10 } });
      const replicas = await serveTwice(quick, {}, { clock: offBy(systemClock, seconds * 1_000) });
      const before = performance.now();
      let answered = 0;
      for (let n = 0; n < 80; n += 1) {
        const { status } = await ask(replicas[n % 2] as Served, apikey("ci"));
        if (status === 200) answered += 1;
      }
      // Its burst, and what the rate gave while they were asked.
      const passed = (performance.now() - before) / 1_000;
      expect(answered).toBeLessThanOrEqual(10 + Math.ceil(10 * passed));
    });
  }
});
