// What POST adds to a root key's value: a new key of an object, or an element of an array that
// moves the later ones up.

import { describe, expect, it } from "vitest";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const value = '{"title":"a","none":null,"nested":{"list":["x","y"]},"empty":[]}';

const shop = project(
  "shop",
  withKey("writer"),
  withRootKey("doc", { initialValue: value }),
  withRootKey("list", { initialValue: '["x","y"]' }),
  withRootKey("number", { initialValue: "1" }),
);

const post = (served: Served, path: string, body: unknown) =>
  served.send(`/json/${path}`, { method: "POST", body, as: apikey("writer") });

describeServedOnBothStores("inserting with POST", (serve) => {
  it("adds a new key to an object and answers 201 with the added value, which GET then returns", async () => {
    const served = await serve(shop);
    const added = await post(served, "doc/author", '{"name":"Ada"}');
    expect([added.status, added.text]).toEqual([201, '{"name":"Ada"}']);
    expect(added.headers["content-type"]).toBe("application/json");
    expect((await served.send("/json/doc/author")).text).toBe('{"name":"Ada"}');
    expect((await served.send("/json/doc/author/name")).text).toBe('"Ada"');
    expect((await served.send("/json/doc")).text).toBe(`${value.slice(0, -1)},"author":{"name":"Ada"}}`);
  });

  it("adds a key to a nested object and to an object inside an array", async () => {
    const served = await serve(shop);
    expect((await post(served, "doc/nested/more", "{}")).status).toBe(201);
    expect((await post(served, "doc/nested/list/-", "{}")).status).toBe(201);
    expect((await post(served, "doc/nested/list/2/deep", "true")).status).toBe(201);
    expect((await served.send("/json/doc/nested")).text).toBe('{"list":["x","y",{"deep":true}],"more":{}}');
  });

  it.each([
    ["0", '["new","x","y"]'],
    ["1", '["x","new","y"]'],
    ["2", '["x","y","new"]'],
    ["-", '["x","y","new"]'],
  ])("inserts into an array at %s and moves later elements to higher indices", async (index, text) => {
    const served = await serve(shop);
    for (const [list, whole] of [
      ["list", text],
      ["doc/nested/list", text],
    ]) {
      const reply = await post(served, `${list}/${index}`, '"new"');
      expect([reply.status, reply.text]).toEqual([201, '"new"']);
      expect((await served.send(`/json/${list}`)).text).toBe(whole);
    }
  });

  it("inserts into an empty array at 0 and at -", async () => {
    const served = await serve(shop);
    expect((await post(served, "doc/empty/0", "1")).status).toBe(201);
    expect((await post(served, "doc/empty/-", "2")).status).toBe(201);
    expect((await served.send("/json/doc/empty")).text).toBe("[1,2]");
  });

  it.each(["null", "true", "0", '""', "[]", "{}", '[[[{"a":[null]}]]]', '"\\u0000\\ud83d\\ude00"'])(
    "adds %s as any other value, under a key and at an index",
    async (text) => {
      const served = await serve(shop);
      const stored = JSON.stringify(JSON.parse(text));
      for (const path of ["doc/new", "list/1"]) {
        const reply = await post(served, path, text);
        expect([reply.status, reply.text]).toEqual([201, stored]);
        expect((await served.send(`/json/${path}`)).text).toBe(stored);
      }
    },
  );

  it("answers with the value as stored, which is what GET returns, and not as sent", async () => {
    const served = await serve(shop);
    const sent = ' { "b" : 1.0 , "a" : [ 1e2, -0, 9007199254740993, 0.1 ], "e\\u0301" : "\\u0041\\/" } ';
    const stored = '{"b":1.0,"a":[100.0,-0.0,9007199254740993,0.1],"e\u0301":"A/"}';
    const reply = await post(served, "doc/new", sent);
    expect(reply.text).toBe(stored);
    expect((await served.send("/json/doc/new")).text).toBe(stored);
  });

  it("answers 409 key_exists for a key that is there, null included, and changes nothing", async () => {
    const served = await serve(shop);
    for (const path of ["doc/title", "doc/none", "doc/nested/list", "doc/empty/"]) {
      const reply = await post(served, path, '"other"');
      expect([path, reply.status, reply.code]).toEqual([path, 409, "key_exists"]);
    }
    expect((await served.send("/json/doc")).text).toBe(value);
  });

  it.each(["3", "4", "9007199254740993", "99999999999999999999999999999999"])(
    "answers 409 index_out_of_range with the length at index %s of two",
    async (index) => {
      const served = await serve(shop);
      for (const list of ["list", "doc/nested/list"]) {
        const reply = await post(served, `${list}/${index}`, "1");
        expect([reply.status, reply.code]).toEqual([409, "index_out_of_range"]);
        expect(reply.json().detail).toContain("length is 2");
        expect((await served.send(`/json/${list}`)).text).toBe('["x","y"]');
      }
    },
  );

  it.each(["-1", "-0", "+1", "01", "00", "1.0", "1e0", "one", "--", "%201", "%EF%BC%91", "__proto__", "length"])(
    "answers 400 invalid_index for %s under an array",
    async (segment) => {
      const served = await serve(shop);
      for (const list of ["list", "doc/nested/list"]) {
        const reply = await post(served, `${list}/${segment}`, "1");
        expect([reply.status, reply.code]).toEqual([400, "invalid_index"]);
        expect((await served.send(`/json/${list}`)).text).toBe('["x","y"]');
      }
    },
  );

  describe("creates nothing on the way", () => {
    it.each([
      ["a missing key", "doc/missing/child"],
      ["several missing keys", "doc/missing/child/grandchild"],
      ["an index past the end", "list/2/child"],
      ["- as an earlier segment", "list/-/child"],
      ["text as an earlier segment below an array", "doc/nested/list/one/child"],
    ])("and answers 404 parent_not_found for %s", async (_what, path) => {
      const served = await serve(shop);
      const reply = await post(served, path, "1");
      expect([reply.status, reply.code]).toEqual([404, "parent_not_found"]);
      expect((await served.send("/json/doc")).text).toBe(value);
      expect((await served.send("/json/list")).text).toBe('["x","y"]');
    });
  });

  it("answers 409 not_a_container below a scalar, null and a scalar root", async () => {
    const served = await serve(shop);
    for (const path of [
      "doc/title/child",
      "doc/title/0",
      "doc/title/-",
      "doc/none/child",
      "number/child",
      "list/0/a",
    ]) {
      const reply = await post(served, path, "1");
      expect([path, reply.status, reply.code]).toEqual([path, 409, "not_a_container"]);
    }
    expect((await served.send("/json/number")).text).toBe("1");
  });

  it("is not offered on the root: 405 with Allow and a detail that says what to do", async () => {
    const served = await serve(shop);
    for (const path of ["doc", "doc/", "list", "number"]) {
      const reply = await post(served, path, "1");
      expect([path, reply.status, reply.code]).toEqual([path, 405, "method_not_allowed"]);
      expect(reply.headers.allow).toBe("GET, HEAD, PUT, PATCH, OPTIONS");
      expect(reply.json().detail).toMatch(/name a key.*\/-/);
    }
  });

  it("starts from the initial value when nothing was stored", async () => {
    const served = await serve(shop);
    expect((await post(served, "doc/title", "1")).code).toBe("key_exists");
    expect((await post(served, "list/0", "0")).status).toBe(201);
    expect((await served.send("/json/list")).text).toBe('[0,"x","y"]');
  });
});
