// The reference page and its files as HTTP: who gets them, under which rules for browsers, and how
// long they may be kept.

import { gunzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import {
  project,
  withAuthenticationDisabled,
  withConfig,
  withKey,
  withResource,
  withServing,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const shop = project("shop", withKey("reader"), withResource("secret-books"));

/** Names of its files as the page has them, with the version. */
async function filesOf(served: Served): Promise<readonly string[]> {
  const { text } = await served.send("/docs");
  return [...text.matchAll(/"(docs\/[a-z.]+\?v=[\w-]+)"/g)].map(([, name]) => `/${name}`);
}

describeServed("the reference page", (serve) => {
  // One for all: whoever first asks waits until four megabytes are compressed.
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });

  it("is served to everybody under a policy that runs no script but its own, and tells nothing of the project", async () => {
    const reply = await served.send("/docs", { as: "apikey wrong" });
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const policy = String(reply.headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toContain("unsafe-eval");
    expect(reply.headers["x-content-type-options"]).toBe("nosniff");
    expect(reply.text).not.toMatch(/secret|shop|https?:\/\//);
    expect(reply.text).not.toMatch(/<script(?![^>]* src=)/);
  });

  it("names its files by what is in them: those are kept for good, others asked about again", async () => {
    const names = await filesOf(served);
    expect(names.map((name) => name.split("?")[0])).toEqual(["/docs/page.css", "/docs/viewer.js", "/docs/page.js"]);
    for (const name of names) {
      const reply = await served.send(name);
      expect([reply.status, reply.headers["cache-control"]]).toEqual([200, "public, max-age=31536000, immutable"]);
      expect((await served.send(name.split("?")[0] ?? "")).headers["cache-control"]).toBe("private, no-cache");
      expect((await served.send(`${name}x`)).headers["cache-control"]).toBe("private, no-cache");
      const again = await served.send(name, { headers: { "if-none-match": String(reply.headers.etag) } });
      expect([again.status, again.text]).toEqual([304, ""]);
    }
  });

  it("sends its files compressed to whom takes that, each form under a tag of its own", async () => {
    const plain = await served.send("/docs/page.js");
    const { origin, base } = served;
    const answer = await fetch(`${origin}${base}/docs/page.js`, { headers: { "accept-encoding": "br, gzip" } });
    expect([answer.headers.get("content-encoding"), await answer.text()]).toEqual(["gzip", plain.text]);
    expect(answer.headers.get("vary")).toContain("Accept-Encoding");
    expect(answer.headers.get("etag")).not.toBe(plain.headers.etag);
    for (const encodings of ["gzip;q=0", "gzip; q=0 , br", "GZIP;Q=0.000", "x-gzip-2", "identity, gzip;q=0.5"]) {
      const refused = await served.send("/docs/page.js", { headers: { "accept-encoding": encodings } });
      expect([encodings, refused.headers["content-encoding"]]).toEqual([encodings, undefined]);
      expect(() => gunzipSync(refused.text)).toThrow();
    }
  });

  it("is refused with 412 to whom names another version in If-Match", async () => {
    const { etag } = (await served.send("/docs")).headers;
    expect((await served.send("/docs", { headers: { "if-match": String(etag) } })).status).toBe(200);
    const other = await served.send("/docs", { headers: { "if-match": '"other"' } });
    expect([other.status, other.code, other.headers.etag]).toEqual([412, "precondition_failed", etag]);
  });

  it("leads from its address with a slash to that without, where its relative links are right", async () => {
    const reply = await served.send("/docs/?x=1");
    expect([reply.status, reply.headers.location]).toEqual([308, "../docs"]);
    expect(new URL("../docs", `https://example.org${served.base}/docs/`).pathname).toBe(`${served.base}/docs`);
  });

  it("answers HEAD and OPTIONS, and 404 and 405 to what it does not have", async () => {
    const head = await served.send("/docs", { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect((await served.send("/docs", { method: "OPTIONS" })).headers.allow).toBe("GET, HEAD, OPTIONS");
    expect((await served.send("/docs", { method: "POST" })).code).toBe("method_not_allowed");
    for (const path of ["/docs/page.html", "/docs/other.js", "/docs/..%2Fviewer.ts", "/docs/a/b"]) {
      expect([path, (await served.send(path)).code]).toEqual([path, "unknown_path"]);
    }
  });

  it("is where a browser comes to that follows the project's URL; other clients find nothing there, as before", async () => {
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for (const at of ["", "/"]) {
      const reply = await served.send(at, { headers: { accept: browser } });
      expect([reply.status, reply.headers.location]).toEqual([302, `${served.base}/docs`]);
      expect(reply.headers.vary).toContain("Accept");
    }
    for (const accept of [undefined, "*/*", "application/json", "application/json, text/html;q=0.9", "text/plain"]) {
      const reply = await served.send("", accept === undefined ? {} : { headers: { accept } });
      expect([accept, reply.status, reply.code]).toEqual([accept, 404, "unknown_path"]);
    }
    expect((await served.send("", { method: "OPTIONS" })).headers.allow).toBe("GET, HEAD, OPTIONS");
    expect((await served.send("", { method: "POST" })).code).toBe("method_not_allowed");
  });

  it("is not where a browser comes to if nobody may read the description: then nothing is at the URL", async () => {
    const closed = await serve(shop);
    closed.change(withConfig({ openapi: "Nobody" }));
    const reply = await closed.send("", { headers: { accept: "text/html" } });
    expect([reply.status, reply.code]).toEqual([404, "unknown_path"]);
  });

  describe("is refused", () => {
    it("where nobody may read the description, and of a project that is off", async () => {
      const served = await serve(shop);
      served.change(withConfig({ openapi: "Nobody" }));
      for (const path of ["/docs", "/docs/page.js"]) {
        expect((await served.send(path)).code).toBe("insufficient_access");
      }
      served.change(withAuthenticationDisabled());
      expect((await served.send("/docs")).code).toBe("insufficient_access");
      served.change(withConfig({ openapi: "Authenticated" }), withServing("Off"));
      expect((await served.send("/docs")).code).toBe("project_off");
    });
  });
});
