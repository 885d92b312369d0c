// What creating an object stores and answers, and what it refuses.

import { beforeAll, describe, expect, it } from "vitest";
import { list, login, make, outcome, type ServedObject } from "../support/http/api-calls.ts";
import { apikey, bearer, project, withKey, withResource, withUser } from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const key = apikey("writer");
const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const shop = project(
  "shop",
  withKey("writer"),
  withUser("alice"),
  withResource("books"),
  withResource("shelf", { maxObjects: 2 }),
  withResource("inbox", { access: { create: "Anyone", read: "Anyone" }, scope: { read: "All" } }),
  withResource("titled", {
    schema: {
      type: "object",
      properties: { title: { type: "string", default: "untitled" }, pages: { type: "integer" } },
      required: ["title"],
      additionalProperties: false,
    },
  }),
);

describeServedOnBothStores("creating an object", (serve) => {
  const clock = manualClock(1_760_000_000_500);
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop, { clock });
  });
  const create = (resource: string, body: unknown, as: string = key) =>
    served.send(`/api/${resource}`, { method: "POST", body, as });

  it("answers 201 with the fields as given, an id and _metadata", async () => {
    const reply = await create("books", { title: "Dune", tags: ["a", { b: null }], price: 1.5 });
    expect(reply.status).toBe(201);
    expect(reply.headers["content-type"]).toBe("application/json");
    expect(reply.json()).toEqual({
      id: expect.stringMatching(uuidV7),
      title: "Dune",
      tags: ["a", { b: null }],
      price: 1.5,
      _metadata: { created: 1_760_000_000, creator: "writer", creator_type: "apikey" },
    });
  });

  it("puts the id first, then the data as they were sent, then _metadata", async () => {
    const reply = await create("books", '{ "z": 1, "10": 2,\n "a": {"y":1,"b":2} , "2": 3 }');
    const id = reply.json().id;
    const metadata = '{"created":1760000000,"creator":"writer","creator_type":"apikey"}';
    expect(reply.text).toBe(`{"id":"${id}","z":1,"10":2,"a":{"y":1,"b":2},"2":3,"_metadata":${metadata}}`);
  });

  it("answers exactly what a read answers later", async () => {
    const made = await create("books", { title: "Ubik", n: [1, 2, 3] });
    expect((await served.send(`/api/books/${made.json().id}`, { as: key })).text).toBe(made.text);
  });

  it("says in Location where the object is, as an absolute URL below the request's base", async () => {
    const reply = await create("books", {});
    expect(reply.headers.location).toBe(`${served.origin}${served.base}/api/books/${reply.json().id}`);
  });

  it("stores an empty object", async () => {
    const { id, _metadata } = await make(served, "books", {}, key);
    expect((await served.send(`/api/books/${id}`, { as: key })).json()).toEqual({ id, _metadata });
  });

  it("names a user by user name, a key by its name and nobody as anonymous", async () => {
    const { access_token } = await login(served, "alice");
    expect((await make(served, "books", {}, bearer(access_token)))._metadata).toMatchObject({
      creator: "alice",
      creator_type: "user",
    });
    expect((await make(served, "books", {}, key))._metadata).toMatchObject({
      creator: "writer",
      creator_type: "apikey",
    });
    expect((await make(served, "inbox", {}))._metadata).toMatchObject({
      creator: "anonymous",
      creator_type: "anonymous",
    });
  });

  it("names the caller even where anyone may create", async () => {
    expect((await make(served, "inbox", {}, key))._metadata).toMatchObject({ creator: "writer" });
  });

  it("goes by the clock again when that jumped ahead and came back", async () => {
    const time = manualClock(1_760_000_000_500);
    const at = await serve(shop, { clock: time });
    const made: ServedObject[] = [];
    for (const jump of [0, 3_600_000, -3_600_000]) {
      time.advance(1_000);
      time.adjust(jump);
      made.push(await make(at, "books", {}, key));
    }
    expect(made.map(({ _metadata }) => _metadata.created - 1_760_000_000)).toEqual([1, 3_602, 3]);
    const [first, early, last] = made.map(({ id }) => id);
    expect((await list(at, "books", key)).items.map(({ id }) => id)).toEqual([first, last, early]);
  });

  it("gives ids that sort by creation, also within one millisecond and when the clock steps back", async () => {
    const made: ServedObject[] = [];
    for (let round = 0; round < 20; round += 1) {
      if (round === 10) clock.advance(-5_000);
      made.push(await make(served, "books", { round }, key));
    }
    const ids = made.map((object) => object.id);
    expect(ids).toEqual(ids.toSorted());
    const page = await list(served, "books?_limit=20&_sort=-id", key);
    expect(page.items.map((item) => item.id)).toEqual(ids.toReversed());
  });

  it.each([
    ["_metadata", '{"_metadata":{"creator":"root"}}'],
    ["id", '{"id":"0190a000-0000-7000-8000-000000000000"}'],
    ["id that is null", '{"id":null}'],
    ["_sort", '{"_sort":1}'],
    ["_limit", '{"_limit":1}'],
    ["_offset", '{"_offset":1}'],
    ["_fields", '{"_fields":1}'],
    ["_count", '{"_count":1}'],
    ["_cursor", '{"_cursor":1}'],
    ["_sort, spelled with an escape", '{"\\u005fsort":1}'],
  ])("refuses the reserved name %s", async (_what, body) => {
    expect(outcome(await create("books", body))).toEqual([400, "reserved_field"]);
  });

  it("points at the reserved name", async () => {
    const { errors } = (await create("books", { _sort: 1 })).json<{ errors: unknown[] }>();
    expect(errors).toEqual([{ pointer: "/_sort", keyword: "reserved", message: expect.any(String) }]);
  });

  it("takes other names with an underscore, and reserved names further inside, as data", async () => {
    const data = { _: 1, _id: 2, _private: 3, __v: 4, nested: { id: "x", _metadata: 1, _sort: 2 } };
    expect(await make(served, "books", data, key)).toMatchObject(data);
  });

  it.each(["[]", '[{"title":"x"}]', '"text"', "1", "true", "null"])("refuses %s, which is no object", async (body) => {
    expect(outcome(await create("books", body))).toEqual([400, "object_required"]);
  });

  it("refuses a request without a body", async () => {
    expect(outcome(await served.send("/api/books", { method: "POST", as: key }))).toEqual([400, "body_required"]);
  });

  describe("of a schema", () => {
    it("lets the schema see the data without id and _metadata", async () => {
      expect((await create("titled", { title: "Emma" })).status).toBe(201);
    });

    it("stores nothing that the schema refuses, and says where and why", async () => {
      const { count } = await list(served, "titled", key);
      const reply = await create("titled", { pages: "many", colour: "red" });
      expect(outcome(reply)).toEqual([400, "validation_failed"]);
      const { errors } = reply.json<{ errors: { pointer: string; keyword: string; message: string }[] }>();
      expect(errors.map(({ pointer, keyword }) => `${pointer} ${keyword}`).toSorted()).toEqual([
        "/colour additionalProperties",
        "/pages type",
        "/title required",
      ]);
      expect(errors.every(({ message }) => message.length > 0)).toBe(true);
      expect((await list(served, "titled", key)).count).toBe(count);
    });

    it("never fills in a default", async () => {
      expect(outcome(await create("titled", { pages: 3 }))).toEqual([400, "validation_failed"]);
    });
  });

  it("refuses the object that would be one too many, until another one goes", async () => {
    const { id } = await make(served, "shelf", { n: 1 }, key);
    await make(served, "shelf", { n: 2 }, key);
    expect(outcome(await create("shelf", { n: 3 }))).toEqual([403, "quota_exceeded"]);
    await served.send(`/api/shelf/${id}`, { method: "DELETE", as: key });
    expect((await create("shelf", { n: 4 })).status).toBe(201);
  });
});

describeReplicas("creating objects", (serveTwice) => {
  it("200 at once leaves every one of them, and lists meanwhile show whole objects in order", async () => {
    const [one, other] = await serveTwice(shop);
    let creating = true;
    const look = async (replica: Served) => {
      let before = 0;
      while (creating) {
        const { count, items } = await list(replica, "books?_limit=100", key);
        expect(count).toBeGreaterThanOrEqual(before);
        expect(items.length).toBe(Math.min(count, 100));
        const ids = items.map((item) => item.id);
        expect(ids).toEqual(ids.toSorted());
        expect(new Set(ids).size).toBe(ids.length);
        expect(items.every((item) => item.text === `object ${item.n}`)).toBe(true);
        before = count;
      }
    };
    const looks = [look(one), look(other)];
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, n) => make(n % 2 ? one : other, "books", { n, text: `object ${n}` }, key)),
    );
    creating = false;
    await Promise.all(looks);
    const pages = await Promise.all([0, 100].map((at) => list(other, `books?_limit=100&_offset=${at}`, key)));
    expect(pages.map((page) => page.count)).toEqual([200, 200]);
    expect(pages.flatMap((page) => page.items.map((item) => item.id))).toEqual(made.map(({ id }) => id).toSorted());
  });

  it("never lets two of them pass the quota together", async () => {
    const [one, other] = await serveTwice(shop);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? one : other).send("/api/shelf", { method: "POST", body: { n }, as: key }),
      ),
    );
    expect(replies.filter((reply) => reply.status === 201).length).toBe(2);
    expect(replies.filter((reply) => reply.code === "quota_exceeded").length).toBe(18);
  });
});
