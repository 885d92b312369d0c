// Writes that name the state they start from: they take place while it is there, and hear 412 with
// the tag of now otherwise.

import { beforeAll, expect, it } from "vitest";
import { make, outcome, type Sender } from "../support/http/api-calls.ts";
import type { Reply, SentRequest } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { countForTier } from "../support/time/test-tier.ts";

const key = apikey("writer");
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("books", { scope: { read: "All", write: "Own" } }),
  withResource("dropped", { access: { create: "Anyone", read: "Nobody", update: "Authenticated", delete: "Anyone" } }),
  withRootKey("doc", { initialValue: '{"n":0,"l":[1,2],"o":{"odd\\"":{"x":1}}}' }),
  withRootKey("box", { access: { create: "Anyone", read: "Nobody", update: "Anyone", delete: "Anyone" } }),
);
const failed = [412, "precondition_failed"] as const;
const tagOf = (reply: Reply) => reply.headers.etag ?? "";

async function etagAt(sender: Sender, path: string): Promise<string> {
  return tagOf(await sender.send(path, { as: key }));
}

describeServedOnBothStores("a conditional write", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const send = (method: string, path: string, sent: SentRequest = {}) =>
    served.send(path, { method, as: key, ...sent });
  const ifMatch = (tag: string) => ({ "if-match": tag });
  const unless = (tag: string) => ({ "if-none-match": tag });

  it("updates an object while its tag is the one that was read, and then 412 with the tag of now", async () => {
    const made = await make(served, "books", { n: 1 }, key);
    const path = `/api/books/${made.id}`;
    const first = await etagAt(served, path);
    const updated = await send("PUT", path, { body: { n: 2 }, headers: ifMatch(`"other", ${first}`) });
    expect(updated.status).toBe(200);
    const lost = await send("PUT", path, { body: { n: 3 }, headers: ifMatch(first) });
    expect([...outcome(lost), tagOf(lost)]).toEqual([...failed, tagOf(updated)]);
    expect((await served.send(path, { as: key })).json()).toEqual({ ...made, n: 2 });
    expect((await send("PUT", path, { body: { n: 3 }, headers: ifMatch("*") })).status).toBe(200);
    expect(outcome(await send("PUT", path, { body: { n: 4 }, headers: unless("*") }))).toEqual(failed);
  });

  it("deletes an object while its tag is the one that was read, and not another's", async () => {
    const made = await make(served, "books", { n: 1 }, key);
    const path = `/api/books/${made.id}`;
    expect(outcome(await send("DELETE", path, { headers: ifMatch('"other"') }))).toEqual(failed);
    const tag = await etagAt(served, path);
    const others = await send("DELETE", path, { headers: ifMatch(tag), as: apikey("other") });
    expect(outcome(others)).toEqual([403, "insufficient_access"]);
    expect((await send("DELETE", path, { headers: ifMatch(tag) })).status).toBe(204);
    expect(outcome(await send("DELETE", path, { headers: ifMatch(tag) }))).toEqual([404, "not_found"]);
    expect(outcome(await send("PUT", path, { body: {}, headers: ifMatch(tag) }))).toEqual([404, "not_found"]);
  });

  it("creates no object under a tag: a collection has none to compare", async () => {
    for (const headers of [ifMatch('"x"'), unless("*")]) {
      expect(outcome(await send("POST", "/api/books", { body: {}, headers }))).toEqual(failed);
    }
    for (const headers of [ifMatch("*"), unless('"x"')]) {
      expect((await send("POST", "/api/books", { body: {}, headers })).status).toBe(201);
    }
  });

  for (const [path, value] of [
    ["/json/doc/n", "5"],
    ["/json/doc/l/1", "[]"],
    ["/json/doc/o/odd%22/x", '"y"'],
    ["/json/doc", '{"n":0,"l":[1,2],"o":{"odd\\"":{"x":1}},"more":1}'],
  ] as const) {
    it(`replaces ${path} while its tag is the one that was read`, async () => {
      await send("PUT", "/json/doc", { body: '{"n":0,"l":[1,2],"o":{"odd\\"":{"x":1}}}' });
      const first = await etagAt(served, path);
      const replaced = await send("PUT", path, { body: value, headers: ifMatch(first) });
      expect([replaced.status, replaced.text]).toEqual([200, value]);
      const lost = await send("PUT", path, { body: "0", headers: ifMatch(first) });
      expect([...outcome(lost), tagOf(lost)]).toEqual([...failed, tagOf(replaced)]);
      expect((await served.send(path, { as: key })).text).toBe(value);
      if (path === "/json/doc") return;
      expect(outcome(await send("DELETE", path, { headers: ifMatch(first) }))).toEqual(failed);
      expect((await send("DELETE", path, { headers: ifMatch(tagOf(replaced)) })).status).toBe(200);
    });
  }

  it.each(["null", "5", '{"a":1}'])(
    "patches %s while its tag is the one that was read, and then 412",
    async (before) => {
      await send("PUT", "/json/doc", { body: `{"p":${before}}` });
      const first = await etagAt(served, "/json/doc/p");
      const patch = (contentType: string, body: string, headers: Record<string, string>) =>
        send("PATCH", "/json/doc/p", { body, headers: { "content-type": contentType, ...headers } });
      for (const [contentType, body] of [
        ["application/merge-patch+json", '{"b":2}'],
        ["application/json-patch+json", '[{"op":"replace","path":"","value":7}]'],
        ["application/json-patch+json", '[{"op":"replace","path":"","value":null}]'],
      ] as const) {
        for (const headers of [ifMatch('"other"'), unless("*"), unless(first)]) {
          const lost = await patch(contentType, body, headers);
          expect([body, ...outcome(lost), tagOf(lost)]).toEqual([body, ...failed, first]);
        }
      }
      expect((await served.send("/json/doc/p", { as: key })).text).toBe(before);
      const patched = await patch("application/merge-patch+json", '{"b":2}', ifMatch(first));
      expect([patched.status, patched.json()]).toEqual([200, { ...(before === '{"a":1}' && { a: 1 }), b: 2 }]);
    },
  );

  it("adds a key only where none is, with If-None-Match: *, by PUT and POST, and says what is there", async () => {
    await send("PUT", "/json/doc", { body: "{}" });
    for (const [method, path] of [
      ["PUT", "/json/doc/put"],
      ["POST", "/json/doc/post"],
      ["PUT", "/json/doc/odd%22"],
    ] as const) {
      const added = await send(method, path, { body: "1", headers: unless("*") });
      expect([path, added.status]).toEqual([path, 201]);
      const again = await send(method, path, { body: "2", headers: unless("*") });
      expect([path, ...outcome(again), tagOf(again)]).toEqual([path, ...failed, tagOf(added)]);
      const missing = await send(method, `${path}-`, { body: "1", headers: ifMatch("*") });
      expect([path, ...outcome(missing), tagOf(missing)]).toEqual([path, ...failed, ""]);
    }
    expect((await served.send("/json/doc", { as: key })).text).toBe('{"put":1,"post":1,"odd\\"":1}');
  });

  it("inserts before the element whose tag it names", async () => {
    await send("PUT", "/json/doc", { body: '{"l":["a","b"]}' });
    const tag = await etagAt(served, "/json/doc/l/1");
    expect((await send("POST", "/json/doc/l/1", { body: '"x"', headers: ifMatch(tag) })).status).toBe(201);
    expect(outcome(await send("POST", "/json/doc/l/1", { body: '"y"', headers: ifMatch(tag) }))).toEqual(failed);
    expect(outcome(await send("POST", "/json/doc/l/1", { body: '"y"', headers: unless("*") }))).toEqual(failed);
    expect((await send("POST", "/json/doc/l/-", { body: '"z"', headers: unless("*") })).status).toBe(201);
    expect((await served.send("/json/doc", { as: key })).text).toBe('{"l":["a","x","b","z"]}');
  });

  it("starts from a root key's initial value, when nothing was stored yet", async () => {
    const fresh = await serve(shop);
    const tag = await etagAt(fresh, "/json/doc/n");
    const put = (sent: string) =>
      fresh.send("/json/doc/n", { method: "PUT", body: "1", as: key, headers: { "if-match": sent } });
    expect(outcome(await put('"other"'))).toEqual(failed);
    expect((await put(tag)).status).toBe(200);
  });

  it("patches no value that is null while its condition does not hold", async () => {
    await send("PUT", "/json/doc/nothing", { body: "null" });
    for (const headers of [ifMatch('"another"'), unless("*")]) {
      const type = { "content-type": "application/merge-patch+json" };
      const reply = await send("PATCH", "/json/doc/nothing", { body: { a: 1 }, headers: { ...headers, ...type } });
      expect(outcome(reply)).toEqual(failed);
    }
    expect((await served.send("/json/doc/nothing", { as: key })).text).toBe("null");
  });

  it("is refused as without its condition when it would be anyway", async () => {
    await send("PUT", "/json/doc", { body: '{"s":"text","l":[]}' });
    const headers = ifMatch('"none"');
    for (const [method, path, refusal] of [
      ["PUT", "/json/doc/none/k", [404, "parent_not_found"]],
      ["PUT", "/json/doc/s/k", [409, "not_a_container"]],
      ["PUT", "/json/doc/l/x", [400, "invalid_index"]],
      ["PUT", "/json/doc/l/0", [404, "index_not_found"]],
      ["POST", "/json/doc/l/1", [409, "index_out_of_range"]],
      ["DELETE", "/json/doc/none", [404, "not_found"]],
    ] as const) {
      expect([
        path,
        ...outcome(await send(method, path, { body: method === "DELETE" ? undefined : "1", headers })),
      ]).toEqual([path, ...refusal]);
    }
  });

  it("needs the right to read: a condition would tell who may only write what is there", async () => {
    const object = (await send("POST", "/api/dropped", { body: { secret: 1 } })).json<{ id: string }>();
    await send("PUT", "/json/box/pin", { body: "1234" });
    for (const headers of [ifMatch('"guess"'), unless('"guess"'), unless("*")]) {
      for (const [method, path] of [
        ["PUT", "/json/box/pin"],
        ["POST", "/json/box/pin"],
        ["DELETE", "/json/box/pin"],
        ["DELETE", `/api/dropped/${object.id}`],
      ] as const) {
        const reply = await send(method, path, { headers, ...(method !== "DELETE" && { body: "1" }) });
        expect([path, ...outcome(reply), tagOf(reply)]).toEqual([path, 403, "insufficient_access", ""]);
      }
    }
  });

  it("is refused with 400 and changes nothing when the condition can't be read", async () => {
    await send("PUT", "/json/doc", { body: "{}" });
    expect(outcome(await send("PUT", "/json/doc", { body: "1", headers: ifMatch("abc") }))).toEqual([
      400,
      "invalid_header",
    ]);
    expect((await served.send("/json/doc", { as: key })).text).toBe("{}");
  });
});

const incrementsEach = countForTier(6, 25);
const increments = 8 * incrementsEach;

describeReplicas("conditional increments from several clients", (serveTwice) => {
  for (const path of ["/json/doc/n", "/json/doc/o/odd%22/x"]) {
    it(`of ${path} are all there in the end: none is lost`, async () => {
      const planes = await serveTwice(shop);
      await planes[0].send("/json/doc", { method: "PUT", body: '{"n":0,"o":{"odd\\"":{"x":0}}}', as: key });
      await incrementTogether(planes, path, { read: Number, written: String });
      expect((await planes[1].send(path, { as: key })).text).toBe(String(increments));
    });
  }

  it("of an object's field are all there in the end: none is lost", async () => {
    const planes = await serveTwice(shop);
    const path = `/api/books/${(await make(planes[0], "books", { n: 0, kept: 1.5 }, key)).id}`;
    await incrementTogether(planes, path, {
      read: (text) => (JSON.parse(text) as { n: number }).n,
      written: (n) => JSON.stringify({ n }),
    });
    expect((await planes[1].send(path, { as: key })).json()).toMatchObject({ n: increments, kept: 1.5 });
  });
});

interface Counter {
  readonly read: (text: string) => number;
  readonly written: (n: number) => string;
}

/** Eight clients on two replicas, every increment read, counted and written back under If-Match. */
async function incrementTogether(planes: readonly [Served, Served], path: string, counter: Counter): Promise<void> {
  const increment = async (served: Served): Promise<void> => {
    for (;;) {
      const read = await served.send(path, { as: key });
      const body = counter.written(counter.read(read.text) + 1);
      const reply = await served.send(path, { method: "PUT", body, as: key, headers: { "if-match": tagOf(read) } });
      if (reply.status === 200) return;
      expect(outcome(reply)).toEqual(failed);
    }
  };
  const client = async (served: Served): Promise<void> => {
    for (let n = 0; n < incrementsEach; n += 1) await increment(served);
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => client(planes[n % 2 === 0 ? 0 : 1])));
}
