// What GET answers for a root key's whole value, for every part of it, and for what is not there.

import { describe, expect, it } from "vitest";
import { apikey, project, withKey, withRootKey } from "../support/http/projects.ts";
import { describeServedOnBothStores } from "../support/http/served.ts";

const value =
  '{"name":"shop","open":true,"owner":null,"rate":0.5,"big":18446744073709551615,"whole":1.0,"tags":["a",["b","c"],{"d":[]}],"empty":{}}';

const shop = project(
  "shop",
  withKey("writer"),
  withRootKey("settings", { initialValue: value }),
  withRootKey("bare"),
  withRootKey("list", { initialValue: '["zero","one",{"two":2}]' }),
  withRootKey("number", { initialValue: "-0.0" }),
  withRootKey("text", { initialValue: '"hello"' }),
  withRootKey("nothing", { initialValue: "null" }),
);

describeServedOnBothStores("reading a root key", (serve) => {
  /**
   * Reads before anything is stored (the initial value answers) and after (the store answers) must
   * not differ.
   */
  async function servedTwice() {
    const fresh = await serve(shop);
    const stored = await serve(shop);
    for (const [key, { initialValue }] of shop.rootKeys) {
      await stored.send(`/json/${key}`, { method: "PUT", body: initialValue, as: apikey("writer") });
    }
    return [fresh, stored];
  }

  it("answers 200 and the complete value, exactly as it is, with and without a trailing slash", async () => {
    for (const served of await servedTwice()) {
      for (const path of ["/json/settings", "/json/settings/"]) {
        const reply = await served.send(path);
        expect([reply.status, reply.text]).toEqual([200, value]);
        expect(reply.headers["content-type"]).toBe("application/json");
      }
    }
  });

  it.each([
    ["an array", "/json/list", '["zero","one",{"two":2}]'],
    ["a number", "/json/number", "-0.0"],
    ["a string", "/json/text", '"hello"'],
    ["null", "/json/nothing", "null"],
    ["nothing that anyone set", "/json/bare", "{}"],
  ])("answers with a value that is %s", async (_what, path, text) => {
    for (const served of await servedTwice()) {
      const reply = await served.send(path);
      expect([reply.status, reply.text]).toEqual([200, text]);
    }
  });

  it("answers with the part that object keys and zero-based indices lead to: object, array or scalar", async () => {
    const parts = {
      "settings/name": '"shop"',
      "settings/name/": '"shop"',
      "settings/open": "true",
      "settings/rate": "0.5",
      "settings/big": "18446744073709551615",
      "settings/whole": "1.0",
      "settings/empty": "{}",
      "settings/tags": '["a",["b","c"],{"d":[]}]',
      "settings/tags/0": '"a"',
      "settings/tags/1": '["b","c"]',
      "settings/tags/1/1": '"c"',
      "settings/tags/2/d": "[]",
      "list/0": '"zero"',
      "list/2/two": "2",
    };
    for (const served of await servedTwice()) {
      const replies: Record<string, string> = {};
      for (const path of Object.keys(parts)) {
        const reply = await served.send(`/json/${path}`);
        expect([path, reply.status]).toEqual([path, 200]);
        replies[path] = reply.text;
      }
      expect(replies).toEqual(parts);
    }
  });

  it("answers a stored null with 200 null, and what is missing beside it with 404", async () => {
    for (const served of await servedTwice()) {
      const stored = await served.send("/json/settings/owner");
      expect([stored.status, stored.text]).toEqual([200, "null"]);
      const missing = await served.send("/json/settings/owners");
      expect([missing.status, missing.code]).toEqual([404, "not_found"]);
    }
  });

  describe("answers 404 not_found", () => {
    it.each([
      ["a missing key", ["settings/none", "bare/none", "settings/empty/none"]],
      ["a path through a missing key", ["settings/none/deeper/still"]],
      ["a path below a scalar", ["settings/name/0", "settings/name/length", "settings/rate/a", "number/0", "text/0"]],
      ["a path below null", ["settings/owner/a", "nothing/a"]],
      ["an index past the end", ["list/3", "settings/tags/1/2", "settings/tags/2/d/0"]],
      ["a key that only JavaScript objects inherit", ["settings/constructor", "settings/__proto__", "list/length"]],
      ["an index beyond all integers", ["list/9007199254740993", "list/99999999999999999999999999999999999999"]],
    ])("for %s", async (_what, paths) => {
      for (const served of await servedTwice()) {
        for (const path of paths) {
          const reply = await served.send(`/json/${path}`);
          expect([path, reply.status, reply.code]).toEqual([path, 404, "not_found"]);
        }
      }
    });

    it.each(["-", "-1", "-0", "+1", "01", "00", "1.0", "1e0", "0x1", "%201", "1%20", "one", "%EF%BC%91", "%D9%A1"])(
      "for %s in place of an index",
      async (segment) => {
        for (const served of await servedTwice()) {
          const last = await served.send(`/json/list/${segment}`);
          expect([last.status, last.code]).toEqual([404, "not_found"]);
          const inner = await served.send(`/json/list/${segment}/two`);
          expect([inner.status, inner.code]).toEqual([404, "not_found"]);
        }
      },
    );
  });

  it("stores nothing: until the first write a changed initial value shows, after it never again", async () => {
    const served = await serve(shop);
    await served.send("/json/bare");
    served.change(withRootKey("bare", { initialValue: '{"from":"second"}' }));
    expect((await served.send("/json/bare/from")).text).toBe('"second"');
    await served.send("/json/bare/added", { method: "POST", body: 1, as: apikey("writer") });
    served.change(withRootKey("bare", { initialValue: '{"from":"third"}' }));
    expect((await served.send("/json/bare")).text).toBe('{"from":"second","added":1}');
  });

  it("answers HEAD with the length of what GET answers, for parts and for problems", async () => {
    const served = await serve(shop);
    for (const path of ["/json/settings/tags", "/json/settings/none"]) {
      const [get, head] = [await served.send(path), await served.send(path, { method: "HEAD" })];
      expect([head.status, head.text]).toEqual([get.status, ""]);
      expect(Number(head.headers["content-length"])).toBe(get.text.length);
    }
  });

  it("keeps root keys and projects apart", async () => {
    const other = project("other", withKey("writer"), withRootKey("settings"));
    const served = await serve([shop, other]);
    await served.send("/json/bare/mine", { method: "PUT", body: 1, as: apikey("writer") });
    expect((await served.send("/json/settings/mine")).code).toBe("not_found");
    expect((await served.send("/../other/json/settings")).status).toBe(404);
  });
});
