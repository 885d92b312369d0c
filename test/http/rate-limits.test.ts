// How many requests a project and each of its callers have answered.

import { expect, it } from "vitest";
import { login, outcome } from "../support/http/api-calls.ts";
import { apikey, bearer, project, withKey, withLimits, withResource, withUser } from "../support/http/projects.ts";
import { describeReplicasEverywhere, describeServedEverywhere, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const shop = project(
  "shop",
  withKey("ci"),
  withKey("app"),
  withUser("alice"),
  withResource("messages", { access: anyone }),
  withLimits({ rate: { caller: { requestsPerSecond: 1, burst: 3 }, project: { requestsPerSecond: 2, burst: 8 } } }),
);

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
  it("answers a caller's burst, then 429 with Retry-After, and goes on by the rate", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    expect(await statuses(served, 3, apikey("ci"))).toEqual([200, 200, 200]);
    const refused = await ask(served, apikey("ci"));
    expect([...outcome(refused), refused.headers["retry-after"]]).toEqual([429, "rate_limited", "1"]);
    clock.advance(1_000);
    expect(await statuses(served, 2, apikey("ci"))).toEqual([200, 429]);
  });

  it("counts each user, each key and each address without a credential by itself", async () => {
    const served = await serve(shop, { clock: manualClock(), trustedProxies: ["127.0.0.1"] });
    expect(await statuses(served, 4, apikey("ci"))).toEqual([200, 200, 200, 429]);
    expect((await ask(served, apikey("app"))).status).toBe(200);
    expect((await ask(served, undefined, "192.0.2.1")).status).toBe(200);
    expect((await ask(served, undefined, "192.0.2.2")).status).toBe(200);
  });

  it("answers all of them together no more than its own rate, and takes nothing from a caller for what it refuses", async () => {
    const clock = manualClock();
    const served = await serve(shop, { clock });
    const session = (await login(served, "alice")).access_token;
    for (const as of [apikey("ci"), apikey("app")]) expect(await statuses(served, 3, as)).toEqual([200, 200, 200]);
    expect(await statuses(served, 3, bearer(session))).toEqual([200, 429, 429]);
    clock.advance(500);
    expect(await statuses(served, 2, bearer(session))).toEqual([200, 429]);
  });

  it("says in RateLimit headers what its policy is and what is left, on answers and on refusals", async () => {
    const served = await serve(shop, { clock: manualClock() });
    const first = await ask(served, apikey("ci"));
    expect(first.headers["ratelimit-policy"]).toBe('"caller";q=3;w=3, "project";q=8;w=4');
    expect(first.headers.ratelimit).toBe('"caller";r=2;t=1, "project";r=7;t=1');
    await statuses(served, 2, apikey("ci"));
    const refused = await ask(served, apikey("ci"));
    expect(refused.headers.ratelimit).toBe('"caller";r=0;t=3, "project";r=5;t=2');
  });

  it("counts neither preflights nor requests whose credential is refused", async () => {
    const served = await serve(shop, { clock: manualClock() });
    for (let n = 0; n < 20; n += 1) {
      expect((await served.send("/api/messages", { method: "OPTIONS" })).status).toBe(204);
      expect((await ask(served, "apikey wrong")).status).toBe(401);
    }
    expect((await ask(served, apikey("ci"))).status).toBe(200);
  });

  it("goes by a changed rate at once, and without one by none", async () => {
    const served = await serve(shop, { clock: manualClock() });
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
    const served = await serve(shop, { clock: manualClock() });
    await statuses(served, 5, apikey("ci"));
    const metrics = await served.plane.metrics.registry.metrics();
    expect(metrics).toContain(`{namespace="${served.namespace}",project="shop",limit="caller"} 2`);
  });
});

describeReplicasEverywhere("a project with rates", (serveTwice) => {
  it("answers no more on two replicas than on one", async () => {
    const replicas = await serveTwice(shop, { clock: manualClock() });
    const asked = replicas.flatMap((served) => Array.from({ length: 10 }, () => ask(served, apikey("ci"))));
    const answered = (await Promise.all(asked)).filter((reply) => reply.status === 200);
    expect(answered).toHaveLength(3);
  });
});
