// What browsers on other origins are told: the preflight, the answers themselves, and what a
// project's owner can change.

import { expect, it } from "vitest";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  project,
  withConfig,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const shop = project(
  "shop",
  withKey("writer"),
  withUser("alice"),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withResource("things"),
);
const allowing = (...allowedOrigins: string[]) => withConfig({ cors: { allowedOrigins, maxAgeSeconds: 60 } });
const origin = "https://app.test";
const exposed =
  "Accept-Patch, Changes-Position, ETag, Idempotent-Replayed, Location, Link, Preference-Applied, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";

const preflight = (served: Served, path: string, method: string, from = origin) =>
  served.send(path, {
    method: "OPTIONS",
    headers: {
      origin: from,
      "access-control-request-method": method,
      "access-control-request-headers": "authorization, content-type",
    },
  });

const corsOf = (headers: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("access-control-")));

describeServed("a preflight", (serve) => {
  it.each([
    ["/api/things", "GET, HEAD, POST, OPTIONS"],
    ["/api/things/some-id", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"],
    ["/json/doc", "GET, HEAD, PUT, PATCH, OPTIONS"],
    ["/json/doc/a/b", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"],
    ["/sessions", "GET, HEAD, POST, OPTIONS"],
    ["/sessions/refresh", "POST, OPTIONS"],
    ["/sessions/some-id", "GET, HEAD, DELETE, OPTIONS"],
  ])("of %s allows any origin and the path's methods, without a credential", async (path, methods) => {
    const served = await serve(shop);
    const reply = await preflight(served, path, "PUT");
    expect([reply.status, reply.text, reply.headers.allow]).toEqual([204, "", methods]);
    expect(corsOf(reply.headers)).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods,
      "access-control-max-age": "600",
    });
  });

  it("allows every request header that the API reads", async () => {
    const served = await serve(shop);
    const reply = await preflight(served, "/json/doc", "PUT");
    const allowed = String(reply.headers["access-control-allow-headers"]).toLowerCase().split(", ");
    for (const name of [
      "authorization",
      "content-type",
      "if-match",
      "if-none-match",
      "idempotency-key",
      "x-request-id",
    ]) {
      expect(allowed).toContain(name);
    }
  });

  it("allows what tracing in browsers sends by default: switching it on blocks no page", async () => {
    const served = await serve(shop);
    const reply = await preflight(served, "/json/doc", "GET");
    const allowed = String(reply.headers["access-control-allow-headers"]).toLowerCase().split(", ");
    const tracing = ["traceparent", "tracestate", "baggage", "sentry-trace", "x-datadog-trace-id", "x-amzn-trace-id"];
    expect(allowed).toEqual(expect.arrayContaining(tracing));
  });

  it("allows the further headers that the project lists, and any beside Authorization where it lists *", async () => {
    const cors = { allowedOrigins: [origin], maxAgeSeconds: 60 };
    for (const allowHeaders of [["X-B3-TraceId", "X-Tenant"], ["*"]]) {
      const served = await serve(project("p", withConfig({ cors: { ...cors, allowHeaders } }), withRootKey("doc")));
      const reply = await preflight(served, "/json/doc", "GET");
      const allowed = String(reply.headers["access-control-allow-headers"]).split(", ");
      expect(allowed).toEqual(expect.arrayContaining(["Authorization", "traceparent", ...allowHeaders]));
    }
  });

  it("never allows credentials: callers send Authorization themselves", async () => {
    const served = await serve(shop);
    for (const reply of [
      await preflight(served, "/json/doc", "PUT"),
      await served.send("/json/doc", { headers: { origin } }),
    ]) {
      expect(reply.headers["access-control-allow-credentials"]).toBeUndefined();
    }
  });

  it("of what does not exist is refused like any other request", async () => {
    const served = await serve(shop);
    expect((await preflight(served, "/json/none", "PUT")).code).toBe("unknown_root_key");
    expect((await preflight(served, "/api/none", "PUT")).code).toBe("unknown_resource");
    expect((await send(served.origin, "/no/where", { method: "OPTIONS", headers: { origin } })).code).toBe(
      "unknown_project",
    );
  });

  it("ignores an Authorization header, even a wrong one", async () => {
    const served = await serve(shop);
    expect(
      (await served.send("/json/doc", { method: "OPTIONS", headers: { origin }, as: "apikey wrong" })).status,
    ).toBe(204);
  });
});

describeServed("an answer to another origin", (serve) => {
  it("allows any and exposes the headers that scripts need, on values, writes and logins", async () => {
    const served = await serve(shop);
    for (const reply of [
      await served.send("/json/doc", { headers: { origin } }),
      await served.send("/json/doc/b", { method: "PUT", body: 1, headers: { origin }, as: apikey("writer") }),
      await served.send("/api/things", { method: "POST", body: {}, headers: { origin }, as: apikey("writer") }),
      await served.send("/sessions", { method: "POST", headers: { origin }, as: basic("alice") }),
    ]) {
      expect(corsOf(reply.headers)).toEqual({
        "access-control-allow-origin": "*",
        "access-control-expose-headers": exposed,
      });
    }
  });

  it("lets scripts read problems as well, those of the path, the caller and the body", async () => {
    const served = await serve(shop);
    for (const [path, sent] of [
      ["/json/none", {}],
      ["/json/doc/x", {}],
      ["/json/doc/%zz", {}],
      ["/json/doc", { method: "DELETE" }],
      ["/json/doc/b", { method: "PUT", body: 1 }],
      ["/json/doc/b", { method: "PUT", body: "{", as: apikey("writer") }],
      ["/json/doc/b", { method: "PUT", body: " ".repeat(2 << 20), as: apikey("writer") }],
    ] as const) {
      const reply = await served.send(path, { ...sent, headers: { origin } });
      expect([path, reply.headers["access-control-allow-origin"]]).toEqual([path, "*"]);
    }
  });

  it("has none of it when no origin was named", async () => {
    const served = await serve(shop);
    expect(corsOf((await served.send("/json/doc")).headers)).toEqual({});
    expect(corsOf((await served.send("/json/doc", { method: "OPTIONS" })).headers)).toEqual({});
  });

  it("is private to the project: outside all projects nothing is allowed", async () => {
    const served = await serve(shop);
    expect(corsOf((await send(served.origin, "/", { headers: { origin } })).headers)).toEqual({});
  });
});

describeServed("a project that lists its origins", (serve) => {
  it("allows exactly those, by name", async () => {
    const origins = [origin, "http://localhost:3000", "capacitor://localhost", "tauri://localhost"];
    const served = await serve(project("p", allowing(...origins), withRootKey("doc")));
    for (const from of origins) {
      const reply = await preflight(served, "/json/doc", "PUT", from);
      expect(corsOf(reply.headers)).toMatchObject({
        "access-control-allow-origin": from,
        "access-control-max-age": "60",
      });
      const answer = await served.send("/json/doc", { headers: { origin: from } });
      expect(answer.headers["access-control-allow-origin"]).toBe(from);
      expect(answer.headers.vary).toContain("Origin");
    }
  });

  it.each([
    "https://other.test",
    "http://app.test",
    "https://app.test:8443",
    "https://app.test.evil.test",
    "https://evil.test/https://app.test",
    "https://APP.test",
    "capacitor://app.test",
    "https://app.test/",
    "null",
    "*",
    "",
    "https://app.test, https://evil.test",
  ])("answers %j without a word of CORS, and serves it all the same", async (from) => {
    const served = await serve(project("p", allowing(origin), withRootKey("doc")));
    const reply = await served.send("/json/doc", { headers: { origin: from } });
    expect([reply.status, corsOf(reply.headers)]).toEqual([200, {}]);
    expect(corsOf((await preflight(served, "/json/doc", "PUT", from)).headers)).toEqual({});
  });
});

describeServed("a project with CORS switched off", (serve) => {
  it("answers every origin without a word of CORS, its preflights as well; its neighbour is as before", async () => {
    const served = await serve([project("off", allowing(), withRootKey("doc")), shop]);
    expect(corsOf((await served.send("/json/doc", { headers: { origin } })).headers)).toEqual({});
    const reply = await preflight(served, "/json/doc", "PUT");
    expect([reply.status, corsOf(reply.headers)]).toEqual([204, {}]);
    const neighbour = await send(served.origin, `/${served.namespace}/shop/json/doc`, { headers: { origin } });
    expect(neighbour.headers["access-control-allow-origin"]).toBe("*");
  });

  it("works at once when it is switched", async () => {
    const served = await serve(shop);
    served.change(allowing());
    expect(corsOf((await served.send("/json/doc", { headers: { origin } })).headers)).toEqual({});
  });
});
