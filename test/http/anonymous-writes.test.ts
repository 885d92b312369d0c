// How many writes an address may make without a credential where authentication is enabled.

import { expect, it } from "vitest";
import { list, login, make, outcome } from "../support/http/api-calls.ts";
import {
  apikey,
  bearer,
  project,
  withAuthenticationDisabled,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeReplicas, describeServed, describeServedEmbedded, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const inbox = project(
  "inbox",
  withKey("ci"),
  withUser("alice"),
  withLimits({ anonymousWritesPerMinute: 3 }),
  withResource("messages", { access: anyone }),
  withResource("closed"),
  withRootKey("board", { access: anyone }),
);

const write = (served: Served, options: { as?: string; from?: string; body?: unknown } = {}) =>
  served.send("/api/messages", {
    method: "POST",
    body: options.body ?? {},
    ...(options.as !== undefined && { as: options.as }),
    ...(options.from !== undefined && { headers: { "x-forwarded-for": options.from } }),
  });

describeServed("writes without a credential", (serve) => {
  it("are as many a minute as the project says, then 429 with Retry-After and nothing is written", async () => {
    const served = await serve(inbox);
    for (let n = 0; n < 3; n += 1) expect((await write(served)).status).toBe(201);
    const reply = await write(served);
    expect(outcome(reply)).toEqual([429, "write_throttled"]);
    const wait = Number(reply.headers["retry-after"]);
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(60);
    expect((await list(served, "messages")).count).toBe(3);
  });

  it("count together, whether they create, change or delete, objects or parts of a root key", async () => {
    const served = await serve(inbox);
    const { id } = await make(served, "messages", {});
    expect((await served.send(`/api/messages/${id}`, { method: "PUT", body: { n: 1 } })).status).toBe(200);
    expect((await served.send("/json/board/a", { method: "POST", body: 1 })).status).toBe(201);
    for (const [method, path, body] of [
      ["DELETE", `/api/messages/${id}`, undefined],
      ["DELETE", "/json/board/a", undefined],
      ["PUT", "/json/board/a", 2],
    ] as const) {
      expect(outcome(await served.send(path, { method, body }))).toEqual([429, "write_throttled"]);
    }
    expect((await served.send("/json/board/a")).text).toBe("1");
  });

  it("count when they are refused for their body as well", async () => {
    const served = await serve(inbox);
    for (const body of ["{", "[]", '{"id":1}']) expect((await write(served, { body })).status).toBe(400);
    expect(outcome(await write(served))).toEqual([429, "write_throttled"]);
  });

  it("do not count where the caller would need a credential, and reads never do", async () => {
    const served = await serve(inbox);
    for (let n = 0; n < 10; n += 1) {
      expect((await served.send("/api/closed", { method: "POST", body: {} })).status).toBe(401);
      expect((await served.send("/api/messages")).status).toBe(200);
      expect((await write(served, { as: "apikey wrong" })).status).toBe(401);
    }
    expect((await write(served)).status).toBe(201);
  });

  it("limit nobody who has a credential", async () => {
    const served = await serve(inbox);
    const token = bearer((await login(served, "alice")).access_token);
    for (let n = 0; n < 4; n += 1) await write(served);
    for (let n = 0; n < 6; n += 1) {
      expect((await write(served, { as: apikey("ci") })).status).toBe(201);
      expect((await write(served, { as: token })).status).toBe(201);
    }
  });

  it("of one address leave other addresses alone; an IPv6 network of /64 is one address", async () => {
    const served = await serve(inbox, { trustedProxies: ["127.0.0.1"] });
    for (let n = 0; n < 3; n += 1) await write(served, { from: `2001:db8::${n + 1}` });
    expect((await write(served, { from: "2001:db8::ffff:1" })).status).toBe(429);
    expect((await write(served, { from: "2001:db8:0:1::1" })).status).toBe(201);
    expect((await write(served, { from: "192.0.2.1" })).status).toBe(201);
  });

  it("are not spread over made-up addresses: X-Forwarded-For counts only from trusted proxies", async () => {
    const served = await serve(inbox);
    for (let n = 0; n < 3; n += 1) await write(served, { from: `192.0.2.${n}` });
    expect((await write(served, { from: "192.0.2.99" })).status).toBe(429);
  });

  it("are not limited where authentication is disabled", async () => {
    const served = await serve(inbox);
    served.change(withAuthenticationDisabled());
    for (let n = 0; n < 10; n += 1) expect((await write(served)).status).toBe(201);
  });
});

describeServedEmbedded("writes without a credential", (serve) => {
  it("are as many again a minute later", async () => {
    const clock = manualClock();
    const served = await serve(inbox, { clock });
    for (let n = 0; n < 3; n += 1) await write(served);
    expect((await write(served)).status).toBe(429);
    clock.advance(61_000);
    for (let n = 0; n < 3; n += 1) expect((await write(served)).status).toBe(201);
    expect((await write(served)).status).toBe(429);
  });
});

describeReplicas("writes without a credential", (serveTwice) => {
  it("count together over replicas", async () => {
    const [one, other] = await serveTwice(inbox);
    const replies = await Promise.all(Array.from({ length: 12 }, (_, n) => write(n % 2 ? one : other)));
    expect(replies.filter((reply) => reply.status === 201).length).toBe(3);
    expect(replies.filter((reply) => reply.status === 429).length).toBe(9);
  });
});
