// What PUT does to a root key's value: replaces a part or the whole, or adds a missing last key of
// an object.

import { expect, it } from "vitest";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const value = '{"title":"a","none":null,"nested":{"list":["x","y"]},"empty":[],"last":1}';

const shop = project(
  "shop",
  withKey("writer"),
  withRootKey("doc", { initialValue: value }),
  withRootKey("list", { initialValue: '["x","y"]' }),
  withRootKey("number", { initialValue: "1" }),
);

const put = (served: Served, path: string, body: unknown) =>
  served.send(`/json/${path}`, { method: "PUT", body, as: apikey("writer") });

describeServedOnBothStores("replacing with PUT", (serve) => {
  it("replaces the value at a path, in its place, and answers 200 with the stored value", async () => {
    const served = await serve(shop);
    const replaced = await put(served, "doc/none", '{ "now" : 1.0 }');
    expect([replaced.status, replaced.text]).toEqual([200, '{"now":1.0}']);
    expect((await served.send("/json/doc")).text).toBe(value.replace("null", '{"now":1.0}'));
  });

  it("replaces whole values: an object's other members are gone, and a container can become a scalar", async () => {
    const served = await serve(shop);
    expect((await put(served, "doc/nested", '{"other":1}')).status).toBe(200);
    expect((await served.send("/json/doc/nested")).text).toBe('{"other":1}');
    expect((await put(served, "doc/nested", "null")).status).toBe(200);
    expect((await served.send("/json/doc/nested/other")).code).toBe("not_found");
  });

  it("replaces an array's element and leaves the others where they are", async () => {
    const served = await serve(shop);
    expect((await put(served, "doc/nested/list/0", '["new"]')).status).toBe(200);
    expect((await put(served, "list/1", "null")).status).toBe(200);
    expect((await served.send("/json/doc/nested/list")).text).toBe('[["new"],"y"]');
    expect((await served.send("/json/list")).text).toBe('["x",null]');
  });

  it("adds a missing last key of an object and answers 201, then replaces it with 200", async () => {
    const served = await serve(shop);
    expect((await put(served, "doc/nested/added", "1")).status).toBe(201);
    expect((await put(served, "doc/nested/added", "2")).status).toBe(200);
    expect((await served.send("/json/doc/nested")).text).toBe('{"list":["x","y"],"added":2}');
  });

  it.each(["{}", "[]", '"text"', "1.0", "false", "null", '{"a":[{"b":null}]}'])(
    "replaces the whole value with %s on the root, with and without a slash, and answers 200",
    async (text) => {
      const served = await serve(shop);
      for (const path of ["doc", "list/", "number"]) {
        const reply = await put(served, path, text);
        expect([reply.status, reply.text]).toEqual([200, text]);
        expect((await served.send(`/json/${path}`)).text).toBe(text);
      }
    },
  );

  it("answers the first PUT of a root with 200: the value was there from the start", async () => {
    const served = await serve(project("p", withKey("writer"), withRootKey("fresh")));
    expect((await put(served, "fresh", '{"a":1}')).status).toBe(200);
  });

  it("answers with the value as stored, which is what GET returns", async () => {
    const served = await serve(shop);
    const sent = '[ 1.50, 1E400 , "\\ud83d\\ude00" ]'.replace("1E400", "1E300");
    const reply = await put(served, "doc/title", sent);
    expect(reply.text).toBe((await served.send("/json/doc/title")).text);
    expect(JSON.parse(reply.text)).toEqual([1.5, 1e300, "😀"]);
  });

  it("keeps members in the order sent, digits and __proto__ among them", async () => {
    const served = await serve(shop);
    const text = '{"z":1,"10":2,"__proto__":{"x":3},"2":4,"constructor":5,"":6}';
    expect((await put(served, "doc", text)).text).toBe(text);
    expect((await served.send("/json/doc")).text).toBe(text);
    expect((await served.send("/json/doc/__proto__/x")).text).toBe("3");
  });

  it.each([
    ["list", "2", "length is 2"],
    ["list", "3", "length is 2"],
    ["doc/nested/list", "99999999999999999999", "length is 2"],
    ["doc/empty", "0", "length is 0"],
  ])("answers 404 index_not_found at %s/%s, past the end, and changes nothing", async (list, index, says) => {
    const served = await serve(shop);
    const reply = await put(served, `${list}/${index}`, "1");
    expect([reply.status, reply.code]).toEqual([404, "index_not_found"]);
    expect(reply.json().detail).toContain(says);
    expect((await served.send("/json/doc")).text).toBe(value);
    expect((await served.send("/json/list")).text).toBe('["x","y"]');
  });

  it.each(["-", "-1", "01", "1.0", "one", "%201", "length"])(
    "answers 400 invalid_index for %s under an array",
    async (segment) => {
      const served = await serve(shop);
      const reply = await put(served, `doc/nested/list/${segment}`, "1");
      expect([reply.status, reply.code]).toEqual([400, "invalid_index"]);
      expect((await served.send("/json/doc")).text).toBe(value);
    },
  );

  it("answers 404 parent_not_found for a missing parent and creates nothing on the way", async () => {
    const served = await serve(shop);
    for (const path of ["doc/missing/a", "doc/missing/a/b", "list/2/a", "list/one/a"]) {
      const reply = await put(served, path, "1");
      expect([path, reply.status, reply.code]).toEqual([path, 404, "parent_not_found"]);
    }
    expect((await served.send("/json/doc")).text).toBe(value);
    expect((await served.send("/json/list")).text).toBe('["x","y"]');
  });

  it("answers 409 not_a_container below a scalar, null and a scalar root", async () => {
    const served = await serve(shop);
    for (const path of ["doc/title/a", "doc/title/0", "doc/title/a/b", "doc/none/a", "number/a", "list/0/0"]) {
      const reply = await put(served, path, "1");
      expect([path, reply.status, reply.code]).toEqual([path, 409, "not_a_container"]);
    }
  });

  it("changes nothing that it was not asked to change, over a hundred replacements", async () => {
    const served = await serve(shop);
    for (let n = 0; n < 100; n += 1) await put(served, "doc/last", JSON.stringify("x".repeat(n)));
    expect((await served.send("/json/doc")).text).toBe(value.replace('"last":1', `"last":"${"x".repeat(99)}"`));
  });
});
