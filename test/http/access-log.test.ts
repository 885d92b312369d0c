// The log: one JSON line per request that says who asked what and how it ended, and never a
// password, token, key, body or query.

import { expect, it } from "vitest";
import { send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  keyOf,
  passwordOf,
  project,
  withKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { openRaw, sendRaw } from "../support/http/raw-http.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const shop = project(
  "shop",
  withKey("ci", { description: 'CI of the "web" team\n\u2028 <b>' }),
  withUser("alice"),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withResource("things", { schema: { type: "object", properties: { color: { type: "string" } } } }),
);

type Line = Record<string, unknown>;

/** A line is written when its answer is out, a moment after the client has it. */
async function lines(served: Served, count: number): Promise<readonly Line[]> {
  return eventually(() => {
    const read = served
      .log()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Line);
    expect(read).toHaveLength(count);
    return read;
  });
}

describeServed("the access log", (serve) => {
  it("has one line per request: time, id, project, method, path, caller, status, duration", async () => {
    const served = await serve(shop, { clock: manualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 67)) });
    const reply = await served.send("/json/doc", { headers: { "x-request-id": "mine" } });
    expect(reply.status).toBe(200);
    const [line] = await lines(served, 1);
    expect(line).toEqual({
      time: "2026-01-02T03:04:05.067Z",
      level: "info",
      message: "Request",
      requestId: "mine",
      namespace: served.namespace,
      project: "shop",
      method: "GET",
      path: `${served.base}/json/doc`,
      caller: "anonymous",
      status: 200,
      durationMs: expect.any(Number),
    });
  });

  it("names a key by its name and its description, a user by name", async () => {
    const served = await serve(shop);
    await served.send("/json/doc", { as: apikey("ci") });
    const login = await served.send("/sessions", { method: "POST", as: basic("alice") });
    await served.send("/json/doc", { as: `bearer ${login.json<{ access_token: string }>().access_token}` });
    const callers = (await lines(served, 3)).map(({ caller, keyDescription }) => [caller, keyDescription]);
    expect(callers).toEqual([
      ["apikey:ci", 'CI of the "web" team\n\u2028 <b>'],
      ["anonymous", undefined],
      ["user:alice", undefined],
    ]);
  });

  it("names the trace and the span that a request comes from, by its traceparent, and nothing where that is none", async () => {
    const served = await serve(shop);
    const [trace, span, zeros] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "0".repeat(32)];
    const valid = [`00-${trace}-${span}-01`, `cc-${trace}-${span}-00-what-comes-later`];
    const invalid = [
      ...["", "none", `ff-${trace}-${span}-01`, `00-${zeros}-${span}-01`, `00-${trace}-${zeros.slice(16)}-01`],
      ...[`00-${trace}-${span}-01-more`, `00-${trace.toUpperCase()}-${span}-01`, `00-${trace}"-${span}-01`],
    ];
    const ask = async (traceparent: string): Promise<void> =>
      void (await served.send("/json/doc", { headers: { traceparent } }));
    for (const each of [...valid, ...invalid]) await ask(each);
    const found = await lines(served, valid.length + invalid.length);
    expect(found.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual([
      ...valid.map(() => [trace, span]),
      ...invalid.map(() => [undefined, undefined]),
    ]);
  });

  it("says the code of a refusal, and no caller where none was proved", async () => {
    const served = await serve(shop);
    await served.send("/json/none", { as: apikey("ci") });
    await served.send("/json/doc", { as: "apikey wrong" });
    await served.send("/json/doc/x", { as: apikey("ci") });
    await served.send("/api/things");
    await send(served.origin, "/nowhere");
    const found = (await lines(served, 5)).map(({ status, code, caller, project: name }) => [
      status,
      code,
      caller,
      name,
    ]);
    expect(found).toEqual([
      [404, "unknown_root_key", undefined, "shop"],
      [401, "invalid_credentials", undefined, "shop"],
      [404, "not_found", "apikey:ci", "shop"],
      [401, "authentication_required", "anonymous", "shop"],
      [404, "unknown_path", undefined, undefined],
    ]);
  });

  it("has a line for what was refused before it was a request, under the id that was answered", async () => {
    const served = await serve(shop);
    const [reply] = await sendRaw(served.origin, "garbage\r\n\r\n");
    expect(await lines(served, 1)).toEqual([
      {
        time: expect.any(String),
        level: "info",
        message: "Malformed request refused",
        requestId: reply?.headers["x-request-id"],
        status: 400,
        code: "invalid_request",
      },
    ]);
  });

  it("has a line for a client that left before its answer", async () => {
    const served = await serve(shop);
    const connection = openRaw(served.origin);
    const head = `PUT ${served.base}/json/doc/k HTTP/1.1\r\nHost: a\r\nAuthorization: ${apikey("ci")}\r\n`;
    connection.write(`${head}Content-Length: 9\r\n\r\n1`);
    await served.send("/json/doc");
    connection.destroy();
    const found = await lines(served, 2);
    expect(found.map(({ method, code }) => [method, code])).toContainEqual(["PUT", "invalid_request"]);
  });

  it("measures the time until the answer was out", async () => {
    const served = await serve(shop);
    await served.send("/json/doc");
    const [line] = await lines(served, 1);
    expect(line?.durationMs).toBeGreaterThan(0);
  });

  it("keeps one line per request under thousands, whole and in JSON", async () => {
    const served = await serve(shop);
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => served.send("/json/doc")));
    }
    const ids = (await lines(served, 1000)).map(({ requestId }) => requestId);
    expect(new Set(ids).size).toBe(1000);
  });

  it("says the time of each request's end, to the millisecond", async () => {
    const clock = manualClock(Date.UTC(2026, 0, 2, 3, 4, 5, 998));
    const served = await serve(shop, { clock });
    for (const count of [1, 2, 3]) {
      await served.send("/json/doc");
      await lines(served, count);
      clock.advance(1);
    }
    const times = (await lines(served, 3)).map(({ time }) => String(time).slice(17));
    expect(times).toEqual(["05.998Z", "05.999Z", "06.000Z"]);
  });

  it("writes a path that has quotes or backslashes as it was sent, in valid JSON", async () => {
    const served = await serve(shop);
    const paths = ['/json/doc/"', "/json/doc/a\\"].map((path) => served.base + path);
    for (const path of paths) {
      await sendRaw(served.origin, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    }
    expect((await lines(served, paths.length)).map(({ path }) => path)).toEqual(paths);
  });

  it("cuts a long path and keeps its line whole", async () => {
    const served = await serve(shop);
    await served.send(`/json/doc/${"%22%0a".repeat(1200)}`);
    const [line] = await lines(served, 1);
    expect(String(line?.path)).toHaveLength(1024);
  });

  it("holds no password, token, key, signing key, body or query, whatever happens to them", async () => {
    const served = await serve(shop);
    const secret = (name: string) => `${name}-s3cr3t`;
    const login = await served.send("/sessions", { method: "POST", as: basic("alice") });
    const { access_token, refresh_token } = login.json<{ access_token: string; refresh_token: string }>();
    await served.send("/sessions/refresh", { method: "POST", as: `Bearer ${refresh_token}` });
    await served.send("/sessions/refresh", { method: "POST", as: `Bearer ${access_token}` });
    await served.send("/json/doc", { as: `bearer ${access_token}` });
    await served.send("/json/doc", { as: `bearer ${access_token.slice(0, -3)}AAA` });
    await served.send("/json/doc", { as: apikey("ci") });
    await served.send("/json/doc", { as: `apikey ${secret("key")}` });
    await served.send("/json/doc", { as: `${secret("scheme")} ${secret("value")}` });
    await served.send("/sessions", { method: "POST", as: basic(secret("user"), secret("password")) });
    await served.send("/sessions", { method: "POST", as: basic("alice", secret("password")), body: secret("body") });
    await served.send("/json/doc/k", { method: "PUT", body: JSON.stringify(secret("body")), as: apikey("ci") });
    await served.send("/json/doc/k", { method: "PUT", body: `{"${secret("body")}"`, as: apikey("ci") });
    await served.send("/api/things", { method: "POST", body: { color: secret("body") }, as: apikey("ci") });
    await served.send("/api/things", { method: "POST", body: { color: [secret("body")] }, as: apikey("ci") });
    await served.send(`/api/things?color=${secret("query")}`, { as: apikey("ci") });
    await served.send(`/api/things?${secret("query")}=1`, { as: apikey("ci") });
    await served.send(`/json/doc?token=${secret("query")}`, { headers: { cookie: secret("cookie") } });
    await sendRaw(served.origin, `${secret("garbage")} ${secret("query")}\r\n\r\n`);
    await lines(served, 18);
    const log = served.log();
    for (const hidden of [
      "s3cr3t",
      passwordOf("alice"),
      keyOf("ci"),
      basic("alice").slice(6),
      access_token,
      access_token.split(".")[1] ?? "",
      refresh_token,
      refresh_token.split(".")[2] ?? "",
      shop.signing.keys[0]?.d ?? "",
      ...[...shop.users.values()].map(({ passwordHash }) => passwordHash),
      ...[...shop.keys.keys()],
    ]) {
      expect(hidden.length).toBeGreaterThan(5);
      expect(log).not.toContain(hidden);
    }
  });
});
