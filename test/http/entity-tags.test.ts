// The tags of objects, lists and values, and what reads answer that say which tag their client has.

import { beforeAll, expect, it } from "vitest";
import { make, outcome } from "../support/http/api-calls.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { sendRaw } from "../support/http/raw-http.ts";
import { describeReplicas, describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const shop = project(
  "shop",
  withKey("writer"),
  withResource("books"),
  withRootKey("doc", { initialValue: '{"a":{"list":[1.0,{"deep":true}]},"odd\\"key":null}' }),
);
const strongTag = /^"[\w-]{27}"$/;
const tagOf = (reply: Reply) => reply.headers.etag ?? "";

describeServed("an entity tag", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    served.send(path, { as: key, headers, method });

  it("stands on values at every depth, the initial one included, and is the same for the same value", async () => {
    for (const path of ["", "/a", "/a/list", "/a/list/0", "/a/list/1/deep", "/odd%22key"]) {
      const reply = await get(`/json/doc${path}`);
      expect([path, reply.status]).toEqual([path, 200]);
      expect(tagOf(reply)).toMatch(strongTag);
      expect(tagOf(await get(`/json/doc${path}`))).toBe(tagOf(reply));
    }
    expect(tagOf(await get("/json/doc/a"))).not.toBe(tagOf(await get("/json/doc/a/list")));
  });

  it("stands on objects and lists, and changes with them", async () => {
    const made = await make(served, "books", { title: "Dune" }, key);
    const before = [await get(`/api/books/${made.id}`), await get("/api/books")].map(tagOf);
    await served.send(`/api/books/${made.id}`, { method: "PUT", body: { title: "Emma" }, as: key });
    const after = [await get(`/api/books/${made.id}`), await get("/api/books")].map(tagOf);
    for (const tag of [...before, ...after]) expect(tag).toMatch(strongTag);
    expect(new Set([...before, ...after]).size).toBe(4);
  });

  it("of what a write left behind is the one that a read answers then", async () => {
    const posted = await served.send("/api/books", { method: "POST", body: '{"n":1.0,"m":1e2}', as: key });
    const path = `/api/books/${posted.json<{ id: string }>().id}`;
    expect(tagOf(await get(path))).toBe(tagOf(posted));
    const put = await served.send(path, { method: "PUT", body: { n: 2 }, as: key });
    expect(tagOf(put)).not.toBe(tagOf(posted));
    expect(tagOf(await get(path))).toBe(tagOf(put));
    const added = await served.send("/json/doc/new", { method: "POST", body: ' { "x" : 1e2 } ', as: key });
    expect(tagOf(await get("/json/doc/new"))).toBe(tagOf(added));
    const replaced = await served.send("/json/doc/new", { method: "PUT", body: "[1.5]", as: key });
    expect(tagOf(await get("/json/doc/new"))).toBe(tagOf(replaced));
  });

  it("that the client has is answered with 304, the tag and no body, on GET and HEAD", async () => {
    const made = await make(served, "books", { title: "Dune" }, key);
    for (const path of [`/api/books/${made.id}`, "/api/books?_limit=1", "/json/doc", "/json/doc/a/list/1"]) {
      const etag = tagOf(await get(path));
      for (const method of ["GET", "HEAD"]) {
        for (const sent of [etag, `W/${etag}`, `"other", ${etag}`, ` ,"a,b" ,,W/${etag}, `, "*"]) {
          const reply = await get(path, { "if-none-match": sent }, method);
          expect([path, sent, reply.status, reply.text]).toEqual([path, sent, 304, ""]);
          expect([tagOf(reply), reply.headers["content-type"]]).toEqual([etag, undefined]);
          expect(reply.headers["cache-control"]).toBe("private, no-cache");
        }
        const other = await get(path, { "if-none-match": '"other"' }, method);
        expect([other.status, tagOf(other)]).toEqual([200, etag]);
      }
    }
  });

  it("that If-Match asks for and a read does not find is 412 with the tag of now", async () => {
    const etag = tagOf(await get("/json/doc/a"));
    for (const sent of [etag, `"other",${etag}`, "*"]) {
      expect((await get("/json/doc/a", { "if-match": sent })).status).toBe(200);
    }
    // RFC 9110 §13.1.1: If-Match compares strongly, so a weak tag never matches.
    for (const sent of ['"other"', `W/${etag}`]) {
      const reply = await get("/json/doc/a", { "if-match": sent });
      expect([...outcome(reply), tagOf(reply)]).toEqual([412, "precondition_failed", etag]);
    }
  });

  it("judges If-Match before If-None-Match", async () => {
    const etag = tagOf(await get("/json/doc"));
    expect((await get("/json/doc", { "if-match": '"other"', "if-none-match": etag })).status).toBe(412);
    expect((await get("/json/doc", { "if-match": etag, "if-none-match": etag })).status).toBe(304);
  });

  it("changes nothing about what is refused: what is missing stays 404", async () => {
    expect(outcome(await get("/json/doc/none", { "if-none-match": "*" }))).toEqual([404, "not_found"]);
    expect(outcome(await get("/json/doc/none", { "if-match": "*" }))).toEqual([404, "not_found"]);
    expect(outcome(await get("/api/books/none", { "if-match": '"x"' }))).toEqual([404, "not_found"]);
  });

  it("in another form, as proxies that compress make of it, is told apart in If-Match from one of before", async () => {
    const etag = tagOf(await get("/json/doc/a"));
    const detailOf = async (sent: string) =>
      (await get("/json/doc/a", { "if-match": sent })).json<{ detail: string }>().detail;
    const core = etag.slice(0, -1);
    for (const sent of [`W/${etag}`, `${core}-gzip"`, `W/${core};br"`, `"other", ${core}--gzip"`]) {
      expect([sent, await detailOf(sent)]).toEqual([sent, expect.stringContaining(`send ${etag}`)]);
    }
    for (const sent of ['"other"', 'W/"other"', '"other-gzip"', `"x${etag.slice(1)}`]) {
      expect([sent, await detailOf(sent)]).toEqual([sent, expect.stringContaining("value changed")]);
    }
  });

  it("list may be empty: If-None-Match holds then, and If-Match fails", async () => {
    for (const sent of ["", " ", ",,", " ,\t, "]) {
      expect((await get("/json/doc", { "if-none-match": sent })).status).toBe(200);
      const reply = await get("/json/doc", { "if-match": sent });
      expect([sent, ...outcome(reply)]).toEqual([sent, 412, "precondition_failed"]);
      expect(reply.json<{ detail: string }>().detail).toContain("names no ETag");
    }
  });

  it("list may be spread over several header lines", async () => {
    const etag = tagOf(await get("/json/doc"));
    const ask = async (lines: readonly string[]) => {
      const head = [`GET ${served.base}/json/doc HTTP/1.1`, "Host: a.test", `Authorization: ${key}`];
      const [reply] = await sendRaw(served.origin, [...head, "Connection: close", ...lines, "", ""].join("\r\n"));
      return reply?.status;
    };
    expect(await ask(['If-None-Match: "a,b"', `If-None-Match: ${etag}`])).toBe(304);
    expect(await ask(["If-None-Match:", 'If-None-Match: "a"', "If-None-Match:"])).toBe(200);
    expect(await ask(['If-Match: "a"', `If-Match: ${etag},`])).toBe(200);
    expect(await ask(["If-Match: *", `If-Match: ${etag}`])).toBe(400);
  });

  it("is refused with 400 when it is none: without quotes, in single ones, * among others", async () => {
    for (const sent of ["abc", "'abc'", '"abc', '*, "a"', '"a", *', "*,", '"a" "b"', 'w/"a"', 'W/ "a"']) {
      for (const header of ["if-match", "if-none-match"]) {
        expect([sent, ...outcome(await get("/json/doc", { [header]: sent }))]).toEqual([sent, 400, "invalid_header"]);
      }
    }
  });

  it("is judged in time that grows with its length only", async () => {
    const sent = `${'"a" '.repeat(3_000)}x`;
    expect(outcome(await get("/json/doc", { "if-match": sent }))).toEqual([400, "invalid_header"]);
  });
});

describeReplicas("an entity tag", (serveTwice) => {
  it("is the same on every replica", async () => {
    const [one, two] = await serveTwice(shop);
    const made = await make(one, "books", { title: "Dune" }, key);
    for (const path of [`/api/books/${made.id}`, "/json/doc/a"]) {
      const tag = tagOf(await one.send(path, { as: key }));
      expect(tag).toMatch(strongTag);
      expect(tagOf(await two.send(path, { as: key }))).toBe(tag);
    }
  });
});
