// Every refusal has one shape, whoever refuses: a stage, the framework, Node's parser or a defect;
// and none tells of the inside.

import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type SentRequest, send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  project,
  withAuthenticationDisabled,
  withKey,
  withResource,
  withRootKey,
  withServing,
  withUser,
} from "../support/http/projects.ts";
import { openRaw, parseReplies, sendRaw } from "../support/http/raw-http.ts";
import { expectProblem } from "../support/http/replies.ts";
import { describeServed, serveFrom } from "../support/http/served.ts";

const shop = project(
  "shop",
  withKey("writer"),
  withKey("reader", { access: "Read" }),
  withUser("alice"),
  withRootKey("doc", { initialValue: '{"a":1,"list":[1]}' }),
  withResource("things", { schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } }),
);
const writer = apikey("writer");
const id = "0190a000-0000-7000-8000-000000000000";

const refusals: readonly (readonly [string, string, SentRequest, string])[] = [
  ["an unknown path", "/nowhere", {}, "unknown_path"],
  ["the project's own base", "", {}, "unknown_path"],
  ["an unknown resource", "/api/none", {}, "unknown_resource"],
  ["an unknown root key", "/json/none", {}, "unknown_root_key"],
  ["a malformed path", "/json/doc/%zz", {}, "invalid_path"],
  ["a long path", `/json/doc/${"x".repeat(2000)}`, {}, "path_too_long"],
  ["a method that is not offered", "/json/doc", { method: "DELETE" }, "method_not_allowed"],
  ["a method that nobody offers", "/json/doc", { method: "PROPFIND" }, "method_not_allowed"],
  ["TRACE", "/json/doc", { method: "TRACE" }, "method_not_allowed"],
  ["QUERY", "/json/doc", { method: "QUERY" }, "method_not_allowed"],
  ["a missing credential", "/api/things", {}, "authentication_required"],
  ["a wrong key", "/api/things", { as: "apikey wrong" }, "invalid_credentials"],
  ["a wrong token", "/api/things", { as: "bearer a.b.c" }, "invalid_credentials"],
  ["a wrong password", "/sessions", { method: "POST", as: basic("alice", "wrong") }, "invalid_credentials"],
  ["a wrong refresh token", "/sessions/refresh", { method: "POST", as: "Bearer x" }, "invalid_credentials"],
  ["a missing access", "/json/doc/b", { method: "PUT", body: 1, as: apikey("reader") }, "insufficient_access"],
  ["an unknown session", `/sessions/${id}`, { as: writer }, "not_found"],
  ["an unknown object", `/api/things/${id}`, { as: writer }, "not_found"],
  ["a missing key", "/json/doc/missing", {}, "not_found"],
  ["a missing parent", "/json/doc/missing/b", { method: "PUT", body: 1, as: writer }, "parent_not_found"],
  ["a key that exists", "/json/doc/a", { method: "POST", body: 1, as: writer }, "key_exists"],
  ["a scalar parent", "/json/doc/a/b", { method: "POST", body: 1, as: writer }, "not_a_container"],
  ["text as an index", "/json/doc/list/x", { method: "PUT", body: 1, as: writer }, "invalid_index"],
  ["an index past the end", "/json/doc/list/7", { method: "PUT", body: 1, as: writer }, "index_not_found"],
  ["an insert past the end", "/json/doc/list/7", { method: "POST", body: 1, as: writer }, "index_out_of_range"],
  ["a bad parameter", "/api/things?_limit=x", { as: writer }, "invalid_parameter"],
  ["a malformed body", "/json/doc/b", { method: "PUT", body: "{", as: writer }, "malformed_json"],
  ["a missing body", "/json/doc/b", { method: "PUT", as: writer }, "body_required"],
  ["a large body", "/json/doc/b", { method: "PUT", body: " ".repeat(2 << 20), as: writer }, "body_too_large"],
  [
    "another media type",
    "/json/doc/b",
    { method: "PUT", body: "1", as: writer, headers: { "content-type": "a/b" } },
    "unsupported_media_type",
  ],
  ["an array as an object", "/api/things", { method: "POST", body: "[]", as: writer }, "object_required"],
  ["a reserved field", "/api/things", { method: "POST", body: '{"n":1,"id":"x"}', as: writer }, "reserved_field"],
  [
    "an object against its schema",
    "/api/things",
    { method: "POST", body: '{"n":"x"}', as: writer },
    "validation_failed",
  ],
  ["a Host that is none", "/json/doc", { headers: { host: "a b" } }, "invalid_request"],
];

describeServed("a problem", (serve) => {
  it.each(refusals)(
    "for %s has the shape, the status and the code of the catalogue",
    async (_what, path, sent, code) => {
      const served = await serve(shop);
      const reply = await served.send(path, sent);
      expectProblem(reply, code);
      expect(reply.json().instance).toBe(`${served.base}${path}`.split("?")[0]?.slice(0, 512));
    },
  );

  it("outside all projects has it as well", async () => {
    const served = await serve([shop, project("off", withServing("Off"))]);
    for (const [path, code] of [
      ["/", "unknown_path"],
      ["/only-one", "unknown_path"],
      ["/no/project/api/x", "unknown_project"],
      [`/${served.namespace}/off/api/x`, "project_off"],
      ["/metrics", "unknown_path"],
      ["/favicon.ico", "unknown_path"],
    ] as const) {
      expectProblem(await send(served.origin, path), code);
    }
  });

  it("has errors[] where a schema refused, with pointer, keyword and message", async () => {
    const served = await serve(shop);
    const reply = await served.send("/api/things", { method: "POST", body: { n: "x" }, as: writer });
    expect(reply.json().errors).toEqual([{ pointer: "/n", keyword: "type", message: expect.stringMatching(/./) }]);
  });

  it("answers 401 with WWW-Authenticate and 405 with Allow", async () => {
    const served = await serve(shop);
    expect((await served.send("/api/things")).headers["www-authenticate"]).toMatch(/^Bearer .*ApiKey /);
    expect((await served.send("/api/things", { method: "DELETE" })).headers.allow).toBe("GET, HEAD, POST, OPTIONS");
  });

  it("repeats nothing that was sent but the path, cut to 512 characters, as inert JSON", async () => {
    const served = await serve(shop);
    const hostile = `/json/doc/"><script>alert(1)</script>\\u0000${"z".repeat(600)}?secret=hunter2`;
    const reply = await served.send(hostile, { as: "apikey jp_very-secret" });
    expectProblem(reply, "invalid_credentials");
    expect(String(reply.json().instance)).toHaveLength(512);
    expect(reply.text).not.toMatch(/hunter2|very-secret/);
    expect(reply.headers["content-type"]).toBe("application/problem+json");
  });
});

const get = (served: { readonly base: string }, lines = "") =>
  `GET ${served.base}/json/doc HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
const post = (served: { readonly base: string }, lines: string, body: string) =>
  `POST ${served.base}/json/doc/k HTTP/1.1\r\nHost: a\r\nAuthorization: ${writer}\r\n${lines}\r\n\r\n${body}`;

describeServed("what the connection refuses", (serve) => {
  describe("has the shape", () => {
    it.each([
      ["garbage", () => "hello there\r\n\r\n"],
      ["an empty line and garbage", () => "\r\n\r\n\0\0\r\n\r\n"],
      ["a TLS handshake", () => new Uint8Array([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00])],
      ["HTTP/2 without asking", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
      ["a version that is none", (of) => get(of).replace("HTTP/1.1", "HTTP/9.9")],
      ["a method in lower case", (of) => get(of).replace("GET", "get")],
      ["an invented method", (of) => get(of).replace("GET", "FROBNICATE")],
      ["a space in the path", (of) => get(of).replace("/json/doc", "/json/d oc")],
      ["a tab in the path", (of) => get(of).replace("/json/doc", "/json/d\toc")],
      ["raw UTF-8 in the path", (of) => get(of).replace("/json/doc", "/json/dö")],
      ["a header without a name", (of) => get(of, ": x\r\n")],
      ["a space before the colon", (of) => get(of, "X-A : x\r\n")],
      ["a NUL in a header", (of) => get(of, "X-A: a\0b\r\n")],
      ["a folded header", (of) => get(of, "X-A: a\r\n b\r\n")],
      ["line ends without a carriage return", (of) => get(of).replaceAll("\r\n", "\n")],
      ["a carriage return inside a header", (of) => get(of, "X-A: a\rX-B: b\r\n")],
    ] as readonly (readonly [string, (of: { readonly base: string }) => string | Uint8Array])[])(
      "for %s: 400, and the connection closed",
      async (_what, bytes) => {
        const served = await serve(shop);
        const replies = await sendRaw(served.origin, bytes(served));
        expect(replies).toHaveLength(1);
        const [reply] = replies;
        if (reply) expectProblem({ ...reply, text: reply.body }, "invalid_request");
        expect(reply?.headers.connection).toBe("close");
        expect(reply?.headers.date).toMatch(/GMT$/);
      },
    );

    it("once, however long the garbage goes on", async () => {
      const served = await serve(shop);
      const connection = openRaw(served.origin);
      for (let n = 0; n < 20; n += 1) {
        connection.write("garbage\r\n\r\n");
        await new Promise((resume) => setTimeout(resume, 1));
      }
      const replies = parseReplies(await connection.closed());
      expect(replies.map(({ status }) => status)).toEqual([400]);
      expect(served.log().trim().split("\n")).toHaveLength(1);
    });

    it("for headers over 32 KiB, in one line or in many: 431", async () => {
      const served = await serve(shop);
      const many = Array.from({ length: 1500 }, (_, n) => `X-${n}: ${"v".repeat(24)}\r\n`).join("");
      for (const lines of [`X-Long: ${"y".repeat(40_000)}\r\n`, many, `Cookie: ${"c".repeat(33_000)}\r\n`]) {
        const [reply] = await sendRaw(served.origin, get(served, lines));
        if (!reply) throw new Error("No reply");
        expectProblem({ ...reply, text: reply.body }, "headers_too_large");
        expect(reply.status).toBe(431);
      }
    });

    it.each([
      ["both lengths", "Content-Length: 3\r\nTransfer-Encoding: chunked", "0\r\n\r\nGET / HTTP/1.1\r\n\r\n"],
      ["both lengths, the other way round", "Transfer-Encoding: chunked\r\nContent-Length: 3", "0\r\n\r\n"],
      ["two lengths", "Content-Length: 1\r\nContent-Length: 2", "12"],
      ["one length twice", "Content-Length: 1\r\nContent-Length: 1", "1"],
      ["a list of lengths", "Content-Length: 1, 2", "12"],
      ["an encoding that is not chunked", "Transfer-Encoding: gzip", "1\r\n1\r\n0\r\n\r\n"],
      ["chunked that is not last", "Transfer-Encoding: chunked, identity", "1\r\n1\r\n0\r\n\r\n"],
      ["chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked, gzip", "1\r\n1\r\n0\r\n\r\n"],
      ["a disguised encoding", "Transfer-Encoding: xchunked", "1\r\n1\r\n0\r\n\r\n"],
      ["a disguised header", "Transfer-Encoding : chunked\r\nContent-Length: 1", "1"],
      ["a vertical tab", "Transfer-Encoding:\x0bchunked", "1\r\n1\r\n0\r\n\r\n"],
    ])(
      "for a smuggling attempt by %s: one 400, nothing stored, nothing served after it",
      async (_what, lines, body) => {
        const served = await serve(shop);
        const smuggled = get(served, "X-Smuggled: 1\r\n");
        const replies = await sendRaw(served.origin, post(served, lines, body) + smuggled);
        expect(replies.map(({ status }) => status)).toEqual([400]);
        const [reply] = replies;
        if (reply) expectProblem({ ...reply, text: reply.body }, "invalid_request");
        expect((await served.send("/json/doc/k")).code).toBe("not_found");
      },
    );

    it("for CONNECT, and for a target that is no path", async () => {
      const served = await serve(shop);
      for (const line of ["CONNECT a.test:443 HTTP/1.1", "GET * HTTP/1.1", "GET ftp://a.test/x HTTP/1.1"]) {
        const replies = await sendRaw(served.origin, `${line}\r\nHost: a\r\nConnection: close\r\n\r\n`);
        expect([line, replies.map(({ status }) => status)]).toEqual([line, [400]]);
        const [reply] = replies;
        if (reply) expectProblem({ ...reply, text: reply.body }, "invalid_request");
      }
    });

    it("for a Host that is missing, doubled or none, whatever the path", async () => {
      const served = await serve(shop);
      for (const host of ["", "Host: a\r\nHost: b\r\n", "Host: a/b\r\n", "Host: a@b\r\n", "Host: a:b\r\n"]) {
        const bytes = `GET ${served.base}/json/doc HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
        const [reply] = await sendRaw(served.origin, bytes);
        if (!reply) throw new Error("No reply");
        expectProblem({ ...reply, text: reply.body }, "invalid_request");
      }
      const [old] = await sendRaw(served.origin, `GET ${served.base}/json/doc/a HTTP/1.0\r\n\r\n`);
      expect(old?.body).toBe("1");
    });

    it("for two Authorization headers: 401, whatever their order", async () => {
      const served = await serve(shop);
      for (const keys of [
        [writer, "apikey wrong"],
        ["apikey wrong", writer],
      ]) {
        const lines = keys.map((key) => `Authorization: ${key}\r\n`).join("");
        const [reply] = await sendRaw(served.origin, get(served, `${lines}Connection: close\r\n`));
        expect(reply?.status).toBe(401);
      }
    });

    it("for two Authorization headers also where nobody needs one, unlike for one of another scheme that has commas", async () => {
      const served = await serve(withAuthenticationDisabled()(shop));
      const statusOf = async (...values: readonly string[]) => {
        const lines = values.map((value) => `Authorization: ${value}\r\n`).join("");
        return (await sendRaw(served.origin, get(served, `${lines}Connection: close\r\n`)))[0]?.status;
      };
      expect(await statusOf('Digest username="a", realm="b"')).toBe(200);
      expect(await statusOf("Basic YTpi")).toBe(200);
      expect(await statusOf("Basic YTpi", "apikey bad")).toBe(401);
      expect(await statusOf("Basic YTpi", writer)).toBe(401);
      expect(await statusOf('Digest username="a"', 'Digest username="b"')).toBe(401);
    });
  });
});

describeServed("hundreds of broken connections", (serve) => {
  it("leave every other request unharmed", async () => {
    const served = await serve(shop);
    const { port } = new URL(served.origin);
    const broken = Array.from({ length: 200 }, (_, n) => {
      const socket = connect(Number(port), "127.0.0.1");
      socket.on("error", () => undefined);
      socket.write(n % 2 === 0 ? "\0".repeat(n) : get(served).slice(0, n));
      setTimeout(() => (n % 3 === 0 ? socket.resetAndDestroy() : socket.destroy()), n % 20);
      return socket;
    });
    const replies = await Promise.all(Array.from({ length: 100 }, () => served.send("/json/doc/a")));
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(["1"]));
    for (const socket of broken) socket.destroy();
  });
});

describe("a defect", () => {
  it("answers 500 internal_error without a word about its cause; the log has its frames and the request's id", async () => {
    const real = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
    const store: Store = Object.assign(Object.create(real) as Store, {
      readAt: () => Promise.reject(new TypeError("secret-of-the-inside is not a function")),
    });
    const served = await serveFrom(store, [shop]);
    const reply = await served.send("/json/doc/a");
    expectProblem(reply, "internal_error");
    expect(reply.text).not.toContain("secret");
    const lines = served
      .log()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const { requestId } = reply.json();
    expect(lines).toContainEqual(expect.objectContaining({ level: "error", requestId, error: "TypeError" }));
    expect(served.log()).not.toContain("secret-of-the-inside");
    expect((await served.send("/json/doc/a", { method: "PUT", body: 2, as: writer })).status).toBe(200);
    await served.plane.close();
    await real.close();
  });
});
