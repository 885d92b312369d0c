// What DELETE removes from a root key's value, and what it answers when there is nothing to remove.

import { expect, it } from "vitest";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const value = '{"title":"a","none":null,"nested":{"list":["x","y","z"]},"empty":[]}';

const shop = project(
  "shop",
  withKey("writer"),
  withRootKey("doc", { initialValue: value }),
  withRootKey("list", { initialValue: '["x","y","z"]' }),
  withRootKey("number", { initialValue: "1" }),
);

const remove = (served: Served, path: string) =>
  served.send(`/json/${path}`, { method: "DELETE", as: apikey("writer") });

describeServedOnBothStores("removing with DELETE", (serve) => {
  it("removes a key, answers 200 with an empty object, and later reads of the parent omit it", async () => {
    const served = await serve(shop);
    const reply = await remove(served, "doc/title");
    expect([reply.status, reply.text]).toEqual([200, "{}"]);
    expect((await served.send("/json/doc/title")).code).toBe("not_found");
    expect((await served.send("/json/doc")).json()).toEqual({
      none: null,
      nested: { list: ["x", "y", "z"] },
      empty: [],
    });
  });

  it("removes whole containers, a stored null, and the last key, which leaves an empty object", async () => {
    const served = await serve(shop);
    for (const key of ["nested", "none", "empty", "title"])
      expect((await remove(served, `doc/${key}`)).status).toBe(200);
    expect((await served.send("/json/doc")).text).toBe("{}");
  });

  it.each([
    ["0", '["y","z"]'],
    ["1", '["x","z"]'],
    ["2", '["x","y"]'],
  ])("removes the array element at %s; later ones shift down", async (index, left) => {
    const served = await serve(shop);
    for (const list of ["list", "doc/nested/list"]) {
      const reply = await remove(served, `${list}/${index}`);
      expect([reply.status, reply.text]).toEqual([200, "{}"]);
      expect((await served.send(`/json/${list}`)).text).toBe(left);
    }
  });

  it("empties an array element by element, and then finds nothing", async () => {
    const served = await serve(shop);
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await remove(served, "list/0")).status);
    expect(statuses).toEqual([200, 200, 200, 404]);
    expect((await served.send("/json/list")).text).toBe("[]");
  });

  it("answers the second DELETE of a key with 404", async () => {
    const served = await serve(shop);
    expect((await remove(served, "doc/title")).status).toBe(200);
    const second = await remove(served, "doc/title");
    expect([second.status, second.code]).toEqual([404, "not_found"]);
  });

  it.each([
    ["a missing key", "doc/missing"],
    ["a missing parent", "doc/missing/child"],
    ["a path through an index past the end", "list/3/child"],
    ["a path through text under an array", "list/one/child"],
    ["an index past the end", "list/3"],
    ["an index beyond all integers", "list/99999999999999999999"],
    ["an element of an empty array", "doc/empty/0"],
    ["a path below a string", "doc/title/0"],
    ["a path below null", "doc/none/a"],
    ["a path far below a scalar", "doc/title/a/b"],
    ["a path below a scalar root", "number/a"],
    ["an inherited member", "doc/constructor"],
  ])("answers 404 not_found for %s and changes nothing", async (_what, path) => {
    const served = await serve(shop);
    const reply = await remove(served, path);
    expect([reply.status, reply.code]).toEqual([404, "not_found"]);
    expect((await served.send("/json/doc")).text).toBe(value);
    expect((await served.send("/json/list")).text).toBe('["x","y","z"]');
    expect((await served.send("/json/number")).text).toBe("1");
  });

  it.each(["-", "-1", "01", "1.0", "one", "length"])(
    "answers 400 invalid_index for %s under an array, the last element stays",
    async (segment) => {
      const served = await serve(shop);
      const reply = await remove(served, `list/${segment}`);
      expect([reply.status, reply.code]).toEqual([400, "invalid_index"]);
      expect((await served.send("/json/list")).text).toBe('["x","y","z"]');
    },
  );

  it("is not offered on the root, whose RootKey owns its life: 405 with Allow", async () => {
    const served = await serve(shop);
    for (const path of ["doc", "doc/", "list"]) {
      const reply = await remove(served, path);
      expect([path, reply.status, reply.headers.allow]).toEqual([path, 405, "GET, HEAD, PUT, PATCH, OPTIONS"]);
    }
    expect((await served.send("/json/doc")).text).toBe(value);
  });

  it("ignores a body", async () => {
    const served = await serve(shop);
    const reply = await served.send("/json/doc/title", { method: "DELETE", body: "not JSON", as: apikey("writer") });
    expect([reply.status, reply.text]).toEqual([200, "{}"]);
  });
});
