// PATCH with the operation `increment`: of objects and of values at any path of a root key, one at
// a time and many at once.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const schema = {
  type: "object",
  properties: { stock: { type: "integer", maximum: 100 }, price: { type: "number" } },
} as const;
const shop = project(
  "shop",
  withKey("writer"),
  withResource("items", { schema }),
  withRootKey("counts", { initialValue: '{"visits":{"/":0},"total":0}' }),
);

function increment(served: Served, at: string, path: string, members: object): Promise<Reply> {
  return served.send(at, {
    method: "PATCH",
    as: key,
    body: JSON.stringify([{ op: "increment", path, ...members }]),
    headers: { "content-type": "application/json-patch+json" },
  });
}

describeServed("an increment", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });

  it("adds to a number of an object, answers with the whole object, and moves its index entries", async () => {
    const made = await make(served, "items", { stock: 5, price: 0.1 }, key);
    const at = `/api/items/${made.id}`;
    expect((await increment(served, at, "/stock", { by: -2 })).json()).toEqual({ ...made, stock: 3 });
    expect((await increment(served, at, "/price", { by: 0.2 })).text).toContain('"price":0.3,');
    expect((await list(served, "items?stock=3", key)).items.map(({ id }) => id)).toEqual([made.id]);
    expect((await list(served, "items?stock=5", key)).count).toBe(0);
  });

  it("adds to a number at any path of a root key, from its initial value on", async () => {
    expect((await increment(served, "/json/counts", "/visits/~1", { by: 1 })).text).toBe(
      '{"visits":{"/":1},"total":0}',
    );
    expect((await increment(served, "/json/counts/visits/%2F", "", { by: 2 })).text).toBe("3");
    expect((await served.send("/json/counts", { as: key })).text).toBe('{"visits":{"/":3},"total":0}');
  });

  it("is refused, and changes nothing, at a bound, at the schema, and where no number is", async () => {
    const made = await make(served, "items", { stock: 99, name: "x" }, key);
    const at = `/api/items/${made.id}`;
    for (const [reply, refusal] of [
      [await increment(served, at, "/stock", { by: -100, min: 0 }), [409, "increment_out_of_bounds"]],
      [await increment(served, at, "/stock", { by: 1, max: 99 }), [409, "increment_out_of_bounds"]],
      [await increment(served, at, "/stock", { by: 2 }), [400, "validation_failed"]],
      [await increment(served, at, "/stock", { by: 0.5 }), [400, "validation_failed"]],
      [await increment(served, at, "/name", { by: 1 }), [409, "patch_conflict"]],
      [await increment(served, at, "/none", { by: 1 }), [409, "patch_conflict"]],
      [await increment(served, at, "/_metadata/created", { by: 1 }), [400, "reserved_field"]],
      [await increment(served, at, "/stock", { by: 1, maximum: 99 }), [400, "invalid_patch"]],
      [await increment(served, "/json/counts", "/total", { by: -1, min: 0 }), [409, "increment_out_of_bounds"]],
      [await increment(served, "/json/counts/none", "", { by: 1 }), [404, "not_found"]],
    ] as const) {
      expect(outcome(reply)).toEqual(refusal);
    }
    const { detail, errors } = (await increment(served, at, "/stock", { by: -100, min: 0 })).json<{
      detail: string;
      errors: unknown[];
    }>();
    expect([detail, errors]).toMatchObject([
      "/0/min: 99 plus -100 would be -1, and `min` is 0",
      [{ pointer: "/0/min" }],
    ]);
    expect((await served.send(at, { as: key })).json()).toEqual(made);
  });

  it("that is sent again with the tag from before takes effect once", async () => {
    const made = await make(served, "items", { stock: 5 }, key);
    const at = `/api/items/${made.id}`;
    const tag = (await served.send(at, { as: key })).headers.etag ?? "";
    const body = '[{"op":"increment","path":"/stock","by":-1}]';
    const headers = { "content-type": "application/json-patch+json", "if-match": tag };
    const send = () => served.send(at, { method: "PATCH", body, as: key, headers });
    expect((await send()).status).toBe(200);
    expect(outcome(await send())).toEqual([412, "precondition_failed"]);
    expect((await served.send(at, { as: key })).json()).toEqual({ ...made, stock: 4 });
  });
});

const clients = 64;

describeServed("many increments at once, by way of three replicas", (serve) => {
  async function replicas(): Promise<readonly Served[]> {
    const first = await serve(shop);
    const options = { namespace: first.namespace };
    return [first, await serve(shop, options), await serve(shop, options)];
  }

  const sendAll = (served: readonly Served[], at: string, path: string, more: object) =>
    Promise.all(
      Array.from({ length: clients }, (_, n) =>
        increment(served[n % served.length] as Served, at, path, { by: -1, ...more }),
      ),
    );

  /** A busy machine may have some wait too long: they hear 503, and nothing of them is there. */
  function succeeded(replies: readonly Reply[], refusal: number): readonly Reply[] {
    for (const { status } of replies) expect([200, refusal, 503]).toContain(status);
    return replies.filter(({ status }) => status === 200);
  }

  describe.each([
    ["an object", (id: string) => `/api/items/${id}`, "/stock"],
    ["a root key", () => "/json/counts", "/stock"],
    ["a value inside a root key", () => "/json/counts/stock", ""],
  ])("of %s", (_what, urlOf, path) => {
    async function withStock(stock: number) {
      const served = await replicas();
      const { id } = await make(served[0] as Served, "items", { stock }, key);
      await served[0]?.send("/json/counts", { method: "PUT", body: { stock }, as: key });
      const at = urlOf(String(id));
      const stockOf = ({ text }: Reply) => Number(/"stock":(-?\d+)|^(-?\d+)$/.exec(text)?.slice(1).join(""));
      return { served, at, stockOf, left: async () => stockOf((await served[1]?.send(at, { as: key })) as Reply) };
    }

    it("are each there once, and each is answered with its own sum", async () => {
      const { served, at, stockOf, left } = await withStock(0);
      const done = succeeded(await sendAll(served, at, path, {}), 200);
      expect(done.length).toBeGreaterThan(clients / 2);
      expect(await left()).toBe(-done.length);
      const sums = done.map(stockOf).toSorted((one, other) => other - one);
      expect(sums).toEqual(done.map((_reply, index) => -1 - index));
    });

    it("never pass the bound: those that find nothing left are told so", async () => {
      const { served, at, left } = await withStock(20);
      const replies = await sendAll(served, at, path, { min: 0 });
      expect(succeeded(replies, 409)).toHaveLength(20);
      expect(await left()).toBe(0);
      const refused = replies.filter(({ status }) => status === 409);
      for (const reply of refused) expect(outcome(reply)).toEqual([409, "increment_out_of_bounds"]);
    });
  });
});
