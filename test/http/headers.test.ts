// The headers that every answer carries: the request's id, what caches may keep, and what answers
// depend on.

import { expect, it } from "vitest";
import type { Reply, SentRequest } from "../support/http/http-client.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, basic, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { sendRaw } from "../support/http/raw-http.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const writer = apikey("writer");
const shop = project(
  "shop",
  withKey("writer"),
  withUser("alice"),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withResource("things", { access: { read: "Anyone" } }),
);
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const logLines = (served: Served) =>
  served
    .log()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** One request of every kind of answer. */
const everyKind: readonly (readonly [string, SentRequest])[] = [
  ["/json/doc", {}],
  ["/json/doc/a", { method: "HEAD" }],
  ["/json/doc/b", { method: "PUT", body: 1, as: writer }],
  ["/json/doc/b", { method: "DELETE", as: writer }],
  ["/api/things", {}],
  ["/api/things", { method: "POST", body: {}, as: writer }],
  ["/.well-known/jwks.json", {}],
  ["/sessions", { as: writer }],
  ["/sessions", { method: "POST", as: basic("alice") }],
  ["/json/doc", { method: "OPTIONS" }],
  ["/json/none", {}],
  ["/json/doc", { method: "POST", body: 1 }],
  ["/api/things", { method: "POST", body: {} }],
];

describeServed("X-Request-Id", (serve) => {
  it.each(["a", "0", "A.b_c-9", "x".repeat(128), "...", "0190a000-0000-7000-8000-000000000000"])(
    "%s is taken over: in the answer, in a problem and in the log",
    async (id) => {
      const served = await serve(shop);
      const headers = { "x-request-id": id };
      expect((await served.send("/json/doc", { headers })).headers["x-request-id"]).toBe(id);
      const problem = await served.send("/json/none", { headers });
      expect([problem.headers["x-request-id"], problem.json().requestId]).toEqual([id, id]);
      expect(logLines(served).map(({ requestId }) => requestId)).toEqual([id, id]);
    },
  );

  it.each(["", " ", "x".repeat(129), "a b", "a/b", "a,b", 'a"b', "a\\b", "a:b", "{}", "<script>", "é", "%0a", "a\tb"])(
    "%j is refused and another made",
    async (id) => {
      const served = await serve(shop);
      const reply = await served.send("/json/none", { headers: { "x-request-id": id } });
      expect(reply.headers["x-request-id"]).toMatch(uuid);
      expect(reply.json().requestId).toBe(reply.headers["x-request-id"]);
      expect(logLines(served).map(({ requestId }) => requestId)).toEqual([reply.headers["x-request-id"]]);
    },
  );

  it("sent twice is refused and another made", async () => {
    const served = await serve(shop);
    const lines = "Host: a\r\nX-Request-Id: a\r\nX-Request-Id: b\r\nConnection: close";
    const [reply] = await sendRaw(served.origin, `GET ${served.base}/json/doc HTTP/1.1\r\n${lines}\r\n\r\n`);
    expect(reply?.headers["x-request-id"]).toMatch(uuid);
  });

  it("is made new for every request that sends none", async () => {
    const served = await serve(shop);
    const replies = await Promise.all(Array.from({ length: 20 }, () => served.send("/json/doc")));
    expect(new Set(replies.map(({ headers }) => headers["x-request-id"])).size).toBe(20);
  });

  it("is in every kind of answer", async () => {
    const served = await serve(shop);
    for (const [path, sent] of everyKind) {
      const reply = await served.send(path, { ...sent, headers: { "x-request-id": "mine" } });
      expect([path, reply.headers["x-request-id"]]).toEqual([path, "mine"]);
    }
  });
});

describeServed("Cache-Control", (serve) => {
  const login = async (served: Served) => served.send("/sessions", { method: "POST", as: basic("alice") });
  const control = (reply: Reply) => reply.headers["cache-control"];

  it("is private, no-cache on values, objects, lists, writes and public keys", async () => {
    const served = await serve(shop);
    const created = await served.send("/api/things", { method: "POST", body: {}, as: writer });
    const { id } = created.json<{ id: string }>();
    const replies = [
      created,
      await served.send(`/api/things/${id}`, { as: writer }),
      await served.send("/api/things"),
      await served.send(`/api/things/${id}`, { method: "DELETE", as: writer }),
      await served.send("/json/doc"),
      await served.send("/json/doc/b", { method: "PUT", body: 1, as: writer }),
      await served.send("/.well-known/jwks.json"),
    ];
    expect(replies.map(control)).toEqual(replies.map(() => "private, no-cache"));
  });

  it("is no-store where credentials are in the body: login and refresh", async () => {
    const served = await serve(shop);
    const opened = await login(served);
    const { refresh_token } = opened.json<{ refresh_token: string }>();
    const refreshed = await served.send("/sessions/refresh", { method: "POST", as: `Bearer ${refresh_token}` });
    expect([opened.status, refreshed.status]).toEqual([201, 200]);
    expect([control(opened), control(refreshed)]).toEqual(["no-store", "no-store"]);
  });

  it("is no-store on problems, so that no refusal outlives its reason", async () => {
    const served = await serve(shop);
    for (const path of ["/json/none", "/nowhere", "/json/doc/x", "/json/doc/%zz"]) {
      expect(control(await served.send(path))).toBe("no-store");
    }
  });
});

describeServed("every answer", (serve) => {
  it("varies by Authorization and Origin", async () => {
    const served = await serve(shop);
    for (const [path, sent] of everyKind) {
      const isList = path === "/api/things" && sent.method === undefined;
      const names = isList ? "Accept, Authorization, Origin" : "Authorization, Origin";
      expect([path, (await served.send(path, sent)).headers.vary]).toEqual([path, names]);
    }
    expect((await send(served.origin, "/")).headers.vary).toBe("Authorization, Origin");
  });

  it("with a body is JSON of the length that it says, and nothing else to a browser; one without has no content type", async () => {
    const served = await serve(shop);
    for (const [path, sent] of everyKind) {
      const reply = await served.send(path, sent);
      if (sent.method === "HEAD") continue;
      if (reply.status === 204) {
        expect([path, reply.text, reply.headers["content-type"]]).toEqual([path, "", undefined]);
        continue;
      }
      expect([path, reply.headers["x-content-type-options"]]).toEqual([path, "nosniff"]);
      expect(reply.headers["content-type"]).toMatch(/^application\/(?:problem\+)?json$/);
      expect(Number(reply.headers["content-length"])).toBe(Buffer.byteLength(reply.text));
      expect(() => reply.json()).not.toThrow();
    }
  });

  it("names no server, no framework and no language", async () => {
    const served = await serve(shop);
    for (const [path, sent] of everyKind) {
      const { headers } = await served.send(path, sent);
      expect(headers.server).toBeUndefined();
      expect(headers["x-powered-by"]).toBeUndefined();
    }
  });

  it("leaves transport security to the ingress", async () => {
    const served = await serve(shop);
    expect((await served.send("/json/doc")).headers["strict-transport-security"]).toBeUndefined();
  });
});

describeServed("text of a client in answers and log", (serve) => {
  it("can't start a line or a header of its own: paths", async () => {
    const served = await serve(shop);
    const paths = [
      "/json/doc/%0d%0aSet-Cookie:%20a=b",
      "/json/doc/%0a%7B%22level%22:%22error%22%7D",
      '/json/doc/"}%0a{"x":"',
      "/json/doc/%E2%80%A8%C2%85x",
      "/json/doc/\\u000a\\",
      `/${"%0a".repeat(300)}`,
    ];
    for (const path of paths) {
      const reply = await served.send(path);
      expect(reply.headers["set-cookie"]).toBeUndefined();
      expect(Object.keys(reply.headers).sort()).toEqual(Object.keys((await served.send("/json/none")).headers).sort());
    }
    const lines = logLines(served);
    expect(lines).toHaveLength(2 * paths.length);
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(["info"]));
    expect(served.log()).not.toMatch(/[\u0085\u2028\u2029]/);
  });

  it("can't get into Location: what a POST stored is addressed by the id alone", async () => {
    const served = await serve(shop);
    const reply = await served.send("/api/things", { method: "POST", body: { a: "\r\nX: y" }, as: writer });
    expect(reply.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[^/]+\/shop\/api\/things\/[0-9a-f-]{36}$/);
  });
});
