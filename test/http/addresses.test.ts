// Which project, resource or root key a request reaches, and what is refused on the way there.

import { describe, expect, it } from "vitest";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  project,
  withConfig,
  withHosts,
  withKey,
  withResource,
  withRootKey,
  withServing,
  withUser,
} from "../support/http/projects.ts";
import { sendRaw } from "../support/http/raw-http.ts";
import { describeServed } from "../support/http/served.ts";

const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withResource("books", { access: { read: "Anyone" }, scope: { read: "All" } }),
  withRootKey("flags", { initialValue: '{"a":1}' }),
);

describeServed("addresses", (serve) => {
  it("serves a project at /<namespace>/<project>", async () => {
    const served = await serve(shop);
    expect((await served.send("/api/books")).json()).toMatchObject({ count: 0, items: [] });
  });

  it.each(["/api/books", "/json/flags", "/json/flags/a"])("ignores one trailing slash on %s", async (path) => {
    const served = await serve(shop);
    const plain = await served.send(path);
    const slashed = await served.send(`${path}/`);
    expect(slashed.status).toBe(200);
    expect(slashed.text).toBe(plain.text);
    expect((await served.send(`${path}//`)).code).toBe("invalid_path");
  });

  it("answers HEAD as GET, without the body", async () => {
    const served = await serve(shop);
    const head = await served.send("/json/flags", { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers["content-length"]).toBe("7");
    expect(head.text).toBe("");
  });

  describe("refuses what does not exist before it asks who is calling", () => {
    it.each([
      ["a project", "/nowhere/at-all/api/books", "unknown_project"],
      ["a namespace alone", "/nowhere", "unknown_path"],
      ["the root", "/", "unknown_path"],
    ])("%s", async (_what, path, code) => {
      const served = await serve(shop);
      const reply = await send(served.origin, path, { as: "apikey wrong" });
      expect([reply.status, reply.code]).toEqual([404, code]);
    });

    it.each([
      ["a resource", "/api/films", "unknown_resource"],
      ["an object of an unknown resource", "/api/films/1", "unknown_resource"],
      ["a root key", "/json/nope/a", "unknown_root_key"],
      ["another path", "/apis/books", "unknown_path"],
      ["a path below an object", "/api/books/1/2", "unknown_path"],
      ["an inherited member as a resource", "/api/constructor", "unknown_resource"],
      ["an inherited member as a root key", "/json/__proto__", "unknown_root_key"],
    ])("%s", async (_what, path, code) => {
      const served = await serve(shop);
      const reply = await served.send(path, { as: "apikey wrong" });
      expect([reply.status, reply.code]).toEqual([404, code]);
    });
  });

  it.each([
    ["/api/books", "DELETE", "GET, HEAD, POST, OPTIONS"],
    ["/api/books/0190a000-0000-7000-8000-000000000000", "POST", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"],
    ["/json/flags", "POST", "GET, HEAD, PUT, PATCH, OPTIONS"],
    ["/json/flags", "DELETE", "GET, HEAD, PUT, PATCH, OPTIONS"],
    ["/json/flags/a", "PROPFIND", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"],
    ["/sessions", "PUT", "GET, HEAD, POST, OPTIONS"],
    ["/sessions/refresh", "GET", "POST, OPTIONS"],
    ["/.well-known/jwks.json", "POST", "GET, HEAD, OPTIONS"],
  ])("answers 405 with Allow on %s for %s", async (path, method, allow) => {
    const served = await serve(shop);
    const reply = await served.send(path, { method, as: "apikey wrong" });
    expect([reply.status, reply.code, reply.headers.allow]).toEqual([405, "method_not_allowed", allow]);
  });

  it("answers OPTIONS * for the whole server, if it names a host", async () => {
    const served = await serve(shop);
    const ask = async (method: string, line = "Host: a.test") =>
      (await sendRaw(served.origin, `${method} * HTTP/1.1\r\n${line}\r\nConnection: close\r\n\r\n`))[0];
    const reply = await ask("OPTIONS");
    expect([reply?.status, reply?.headers.allow]).toEqual([204, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"]);
    expect((await ask("OPTIONS", "X-Other: 1"))?.status).toBe(400);
  });

  it("says how to add to a root key's value when someone posts to its root", async () => {
    const served = await serve(shop);
    expect((await served.send("/json/flags", { method: "POST", body: 1 })).text).toContain("/-");
  });

  it("takes %2F, dots and plus signs for characters of a key", async () => {
    const served = await serve(shop);
    for (const key of ["a%2Fb", "..", "%2E%2E%2f", "a+b", "."]) {
      const written = await served.send(`/json/flags/${key}`, { method: "PUT", body: 1, as: apikey("admin") });
      expect([key, written.status]).toEqual([key, 201]);
      expect((await served.send(`/json/flags/${key}`)).text).toBe("1");
    }
    expect((await served.send("/json/flags")).text).toBe('{"a":1,"a/b":1,"..":1,"../":1,"a+b":1,".":1}');
  });

  it("never leaves a project through dots in the path", async () => {
    const other = project("other", withRootKey("secret", { initialValue: '"theirs"' }));
    const served = await serve([shop, other]);
    for (const path of [
      "/json/flags/../../../other/json/secret",
      "/../other/json/secret",
      "/json/flags/%2E%2E%2Fsecret",
    ]) {
      const reply = await served.send(path);
      expect(reply.text).not.toContain("theirs");
      expect(reply.status).toBeGreaterThanOrEqual(400);
    }
  });

  it.each([
    ["bad percent-encoding", "/json/flags/%zz", 400, "invalid_path"],
    ["an overlong UTF-8 sequence", "/json/flags/%c0%af", 400, "invalid_path"],
    ["an encoded NUL", "/json/flags/%00", 400, "invalid_path"],
    ["a segment over 1 KiB", `/json/flags/${"x".repeat(1025)}`, 414, "path_too_long"],
    ["a path of 129 segments, the project's two included", `/json/flags${"/x".repeat(125)}`, 414, "path_too_long"],
    ["a path over 8 KiB", `/json/flags/${"x/".repeat(4100)}`, 414, "path_too_long"],
  ])("refuses %s", async (_what, path, status, code) => {
    const served = await serve(shop);
    const reply = await served.send(path);
    expect([reply.status, reply.code]).toEqual([status, code]);
  });

  it("takes the absolute form of a request target, as proxies send it", async () => {
    const served = await serve(shop);
    const reply = await send(served.origin, `http://elsewhere.test${served.base}/json/flags`);
    expect(reply.text).toBe('{"a":1}');
  });
});

describeServed("a project's hosts", (serve) => {
  const hosted = project(
    "hosted",
    withHosts("api.shop.test"),
    withRootKey("k"),
    withResource("r", { access: { read: "Anyone" } }),
  );

  it("serve it without a path base, whatever the case and port of the Host header", async () => {
    const served = await serve([shop, hosted]);
    const reply = await send(served.origin, "/json/k", { headers: { host: "API.shop.test:8080" } });
    expect(reply.text).toBe("{}");
  });

  it("serve it when the Host header ends in the dot of a full name", async () => {
    const served = await serve([shop, hosted]);
    for (const host of ["api.shop.test.", "api.shop.test.:8080"]) {
      const reply = await send(served.origin, "/json/k", { headers: { host } });
      expect([host, reply.text]).toEqual([host, "{}"]);
    }
  });

  it("serve only that project", async () => {
    const served = await serve([shop, hosted]);
    const reply = await send(served.origin, `${served.base}/json/flags`, { headers: { host: "api.shop.test" } });
    expect([reply.status, reply.code]).toEqual([404, "unknown_path"]);
  });

  it("are those of the target's authority where the target has one, whatever the Host header says", async () => {
    const served = await serve([shop, hosted]);
    const ask = (target: string, host: string) => send(served.origin, target, { headers: { host } });
    expect((await ask("http://api.shop.test:8080/json/k", "elsewhere.test")).text).toBe("{}");
    const other = await ask(`http://elsewhere.test${served.base}/json/flags`, "api.shop.test");
    expect(other.text).toBe('{"a":1}');
    const list = await ask("http://API.shop.test/api/r", "elsewhere.test");
    expect(list.json()).toMatchObject({ links: { self: "http://API.shop.test/api/r?_limit=10&_offset=0" } });
  });

  it.each([
    ["someone in front of the host", "http://user@api.shop.test/json/k", "Host: api.shop.test"],
    ["no host", "http:///json/k", "Host: api.shop.test"],
    ["a host that is none", "http://api,shop.test/json/k", "Host: api.shop.test"],
    ["no Host header beside it", "http://api.shop.test/json/k", "X-Other: 1"],
    ["two Host headers beside it", "http://api.shop.test/json/k", "Host: api.shop.test\r\nHost: api.shop.test"],
  ])("are refused with %s in an absolute target", async (_what, target, line) => {
    const served = await serve([shop, hosted]);
    const [reply] = await sendRaw(served.origin, `GET ${target} HTTP/1.1\r\n${line}\r\nConnection: close\r\n\r\n`);
    expect([reply?.status, JSON.parse(reply?.body ?? "{}").code]).toEqual([400, "invalid_request"]);
  });

  it("are repeated in links", async () => {
    const served = await serve([shop, hosted]);
    const reply = await send(served.origin, "/api/r", { headers: { host: "api.shop.test" } });
    expect(reply.json()).toMatchObject({ links: { self: "http://api.shop.test/api/r?_limit=10&_offset=0" } });
  });
});

describeServed("links behind proxies", (serve) => {
  const forwarded = { "x-forwarded-proto": "https", "x-forwarded-host": "public.test" };
  const linkOf = (reply: { json<T>(): T }) => reply.json<{ links: { self: string } }>().links.self;

  it("follow X-Forwarded-* from a trusted proxy", async () => {
    const served = await serve(shop, { trustedProxies: ["127.0.0.1"] });
    const reply = await served.send("/api/books", { headers: forwarded });
    expect(linkOf(reply)).toBe(`https://public.test${served.base}/api/books?_limit=10&_offset=0`);
  });

  it("follow the Host header and no forwarded one from anybody else", async () => {
    const served = await serve(shop);
    const reply = await served.send("/api/books", { headers: { ...forwarded, host: "direct.test" } });
    expect(linkOf(reply)).toBe(`http://direct.test${served.base}/api/books?_limit=10&_offset=0`);
  });

  const publicUrl = "https://api.example.org";
  const hosted = project(
    "shop",
    withHosts("api.shop.test"),
    withKey("admin", { role: "Administrators" }),
    withUser("alice"),
    withResource("books", { access: { read: "Anyone" }, scope: { read: "All" } }),
    withConfig({ openapi: "Anyone" }),
  );

  it("all have the scheme of the public URL at its host, though the connection is plain and nobody is trusted", async () => {
    const served = await serve(hosted, { publicUrl });
    const at = { headers: { host: "api.example.org" } };
    const replies = [
      await served.send("/api/books?_limit=1", at),
      await served.send("/api/books", { ...at, method: "POST", body: {}, as: apikey("admin") }),
      await served.send("/sessions", { ...at, method: "POST", as: basic("alice") }),
      await served.send("/openapi.json", at),
    ];
    const base = `${publicUrl}${served.base}`;
    expect(linkOf(replies[0] as Reply)).toBe(`${base}/api/books?_limit=1&_offset=0`);
    expect(replies[1]?.headers.location).toContain(`${base}/api/books/`);
    expect(replies[2]?.headers.location).toContain(`${base}/sessions/`);
    expect(replies[3]?.json()).toMatchObject({ servers: [{ url: base }] });
  });

  describe("have the scheme", () => {
    it.each<[string, string, string, Record<string, string>]>([
      ["of the public URL at its host with a port", "untrusted", "https://api.example.org:443", {}],
      ["of the public URL at a host that the project claims", "untrusted", "https://api.shop.test", {}],
      ["of the connection at another host", "untrusted", "http://10.0.0.7:8080", {}],
      ["of the connection, whatever an untrusted client says", "untrusted", "http://10.0.0.7", { proto: "https" }],
      [
        "of the public URL at its host, whatever a trusted proxy says",
        "trusted",
        "https://api.example.org",
        { proto: "http" },
      ],
      ["of a trusted proxy at a host that the project claims", "trusted", "http://api.shop.test", { proto: "http" }],
      ["of a trusted proxy at another host, in capitals as well", "trusted", "https://a.test", { proto: "HTTPS" }],
      ["of the connection where a trusted proxy names no scheme of HTTP", "trusted", "http://a.test", { proto: "ws" }],
      ["of the connection where a trusted proxy names none", "trusted", "http://a.test", { proto: "" }],
      [
        "that the outer one of two trusted proxies was asked by",
        "trusted",
        "https://a.test",
        { proto: "https,http", for: "192.0.2.1, 127.0.0.1" },
      ],
      [
        "that the inner one repeats alone",
        "trusted",
        "https://a.test",
        { proto: "https", for: "192.0.2.1, 127.0.0.1" },
      ],
      [
        "that the trusted proxy says, not what its client said before it",
        "trusted",
        "http://a.test",
        { proto: "https, http", for: "127.0.0.1, 192.0.2.1" },
      ],
    ])("%s", async (_what, proxy, origin, { proto, for: addresses }) => {
      const served = await serve(hosted, { publicUrl, trustedProxies: proxy === "trusted" ? ["127.0.0.0/8"] : [] });
      const host = origin.slice(origin.indexOf("//") + 2);
      const headers = {
        host,
        ...(proto !== undefined && { "x-forwarded-proto": proto }),
        ...(addresses !== undefined && { "x-forwarded-for": addresses }),
      };
      const base = host === "api.shop.test" ? "" : served.base;
      const reply = await send(served.origin, `${base}/api/books`, { headers });
      expect(linkOf(reply)).toBe(`${origin}${base}/api/books?_limit=10&_offset=0`);
    });
  });

  it("have the host that the outer one of two trusted proxies was asked by", async () => {
    const served = await serve(shop, { trustedProxies: ["127.0.0.1"] });
    const headers = { "x-forwarded-host": "public.test, inner.test", "x-forwarded-for": "192.0.2.1,127.0.0.1" };
    expect(linkOf(await served.send("/api/books", { headers }))).toContain("http://public.test/");
  });

  it("refuse an X-Forwarded-Host of a trusted proxy that is no host name, and name that header", async () => {
    const served = await serve(shop, { trustedProxies: ["127.0.0.1"] });
    const reply = await served.send("/api/books", { headers: { "x-forwarded-host": "https://public.test" } });
    expect([reply.status, reply.code]).toEqual([400, "invalid_request"]);
    expect(reply.json<{ detail: string }>().detail).toContain("X-Forwarded-Host");
  });

  it("refuse a Host that is no host name", async () => {
    const served = await serve(shop);
    const reply = await served.send("/api/books", { headers: { host: 'a.test/"><script>' } });
    expect([reply.status, reply.code]).toEqual([400, "invalid_request"]);
  });
});

describeServed("a project that its owner", (serve) => {
  it("switched off answers 503 to everything", async () => {
    const served = await serve(project("off", withServing("Off"), withRootKey("k")));
    const reply = await served.send("/json/k");
    expect([reply.status, reply.code]).toEqual([503, "project_off"]);
  });

  it("made read-only answers reads, and 403 to writes", async () => {
    const served = await serve(shop);
    served.change(withConfig({ serving: "ReadOnly" }));
    expect((await served.send("/json/flags")).status).toBe(200);
    const writes = [
      await served.send("/api/books", { method: "POST", body: {}, as: apikey("admin") }),
      await served.send("/json/flags/b", { method: "PUT", body: 1, as: apikey("admin") }),
      await served.send("/json/flags/a", { method: "DELETE", as: apikey("admin") }),
    ];
    expect(writes.map((reply) => reply.code)).toEqual(Array(3).fill("project_read_only"));
  });
});
