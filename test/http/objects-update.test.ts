// What an update changes and keeps, what it refuses, and that updates at one time don't undo each
// other.

import { beforeAll, describe, expect, it } from "vitest";
import type { Clock } from "../../core/clock.ts";
import { list, make, outcome, type ServedObject } from "../support/http/api-calls.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServed, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const key = apikey("writer");
const titled = {
  type: "object",
  properties: { title: { type: "string" }, pages: { type: "integer" } },
  required: ["title"],
} as const;

const shop = project(
  "shop",
  withKey("writer"),
  withKey("boss", { role: "Administrators" }),
  withResource("books"),
  withResource("titled", { schema: titled }),
);

describeServedOnBothStores("updating an object", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const put = (object: ServedObject, body: unknown, as: string = key) =>
    served.send(`/api/books/${object.id}`, { method: "PUT", body, as });
  const read = async (object: ServedObject) => served.send(`/api/books/${object.id}`, { as: key });

  it("answers 200 with the complete object: fields sent are changed, the others keep their values", async () => {
    const made = await make(served, "books", { title: "Dune", price: 10, tags: ["a"] }, key);
    const reply = await put(made, { price: 12 });
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual({ ...made, price: 12 });
    expect((await read(made)).text).toBe(reply.text);
  });

  it("keeps id and _metadata, whoever updates", async () => {
    const made = await make(served, "books", { n: 1 }, key);
    const reply = await put(made, { n: 2 }, apikey("boss"));
    expect(reply.json()).toEqual({ ...made, n: 2 });
  });

  it("adds fields that were not there, behind the others and before _metadata", async () => {
    const made = await make(served, "books", { z: 1, y: 2 }, key);
    const reply = await put(made, '{"b":1,"z":9,"a":2}');
    expect(Object.keys(reply.json())).toEqual(["id", "z", "y", "b", "a", "_metadata"]);
  });

  it("stores null as a value", async () => {
    const made = await make(served, "books", { title: "Dune" }, key);
    expect((await put(made, { title: null })).json()).toEqual({ ...made, title: null });
  });

  it("replaces nested objects and arrays whole", async () => {
    const made = await make(served, "books", { author: { name: "A", born: 1 }, tags: [1, 2, 3] }, key);
    const reply = await put(made, { author: { name: "B" }, tags: [] });
    expect(reply.json()).toEqual({ ...made, author: { name: "B" }, tags: [] });
  });

  it("changes nothing for an empty object", async () => {
    const made = await make(served, "books", { title: "Dune", n: 1 }, key);
    const reply = await put(made, {});
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual(made);
  });

  describe("that carries id and _metadata", () => {
    it("ignores them when they are as stored, in whatever order", async () => {
      const made = await make(served, "books", { n: 1 }, key);
      const { created, creator, creator_type } = made._metadata;
      const sent = { id: made.id, _metadata: { creator_type, created, creator }, n: 2 };
      expect((await put(made, sent)).json()).toEqual({ ...made, n: 2 });
    });

    it("takes an object back as it was read", async () => {
      const made = await make(served, "books", { n: 1, big: "x" }, key);
      expect((await put(made, (await read(made)).text)).json()).toEqual(made);
    });

    it.each([
      ["another id", { id: "0190a000-0000-7000-8000-000000000000" }],
      ["an id of null", { id: null }],
      ["another creator", { _metadata: { created: 1, creator: "boss", creator_type: "apikey" } }],
      ["_metadata of null", { _metadata: null }],
      ["an empty _metadata", { _metadata: {} }],
      ["a query parameter's name", { _sort: 1 }],
    ])("refuses %s and changes nothing", async (_what, body) => {
      const made = await make(served, "books", { n: 1 }, key);
      expect(outcome(await put(made, { ...body, n: 2 }))).toEqual([400, "reserved_field"]);
      expect((await read(made)).json()).toEqual(made);
    });

    it("refuses the right _metadata with something more in it", async () => {
      const made = await make(served, "books", { n: 1 }, key);
      const reply = await put(made, { _metadata: { ...made._metadata, role: "Administrators" } });
      expect(outcome(reply)).toEqual([400, "reserved_field"]);
    });
  });

  it.each(["[]", '"text"', "null", "7"])("refuses %s, which is no object", async (body) => {
    const made = await make(served, "books", {}, key);
    expect(outcome(await put(made, body))).toEqual([400, "object_required"]);
  });

  it("refuses a request without a body", async () => {
    const made = await make(served, "books", {}, key);
    const reply = await served.send(`/api/books/${made.id}`, { method: "PUT", as: key });
    expect(outcome(reply)).toEqual([400, "body_required"]);
  });

  it("never creates", async () => {
    const { count } = await list(served, "books", apikey("boss"));
    const reply = await served.send("/api/books/0190a000-0000-7000-8000-000000000000", {
      method: "PUT",
      body: { n: 1 },
      as: key,
    });
    expect(outcome(reply)).toEqual([404, "not_found"]);
    expect((await list(served, "books", apikey("boss"))).count).toBe(count);
  });

  it("leaves the object at its place in the list", async () => {
    const first = await make(served, "books", { n: 1 }, key);
    const second = await make(served, "books", { n: 2 }, key);
    await put(first, { n: 3 });
    const { items } = await list(served, "books?_sort=-id&_limit=2", key);
    expect(items.map((item) => item.id)).toEqual([second.id, first.id]);
  });
});

describeServed("an update under a schema", (serve) => {
  const put = (served: Served, id: string, body: unknown) =>
    served.send(`/api/titled/${id}`, { method: "PUT", body, as: key });

  it("needs only the fields to change, because the merged object is what the schema judges", async () => {
    const served = await serve(shop);
    const made = await make(served, "titled", { title: "Dune" }, key);
    expect((await put(served, made.id, { pages: 412 })).json()).toEqual({ ...made, pages: 412 });
  });

  it("is refused when the merged object is wrong, and changes nothing", async () => {
    const served = await serve(shop);
    const made = await make(served, "titled", { title: "Dune", pages: 1 }, key);
    const reply = await put(served, made.id, { title: 7, pages: 2 });
    expect(outcome(reply)).toEqual([400, "validation_failed"]);
    expect(reply.json()).toMatchObject({ errors: [{ pointer: "/title", keyword: "type" }] });
    expect((await served.send(`/api/titled/${made.id}`, { as: key })).json()).toEqual(made);
  });

  it("judges by the schema of now: older objects stay readable and must become right when they are updated", async () => {
    const served = await serve(shop);
    const made = await make(served, "titled", { title: "Dune" }, key);
    served.change(withResource("titled", { schema: { ...titled, required: ["title", "pages"] } }));
    expect((await served.send(`/api/titled/${made.id}`, { as: key })).json()).toEqual(made);
    expect((await list(served, "titled", key)).items).toEqual([made]);
    expect(outcome(await put(served, made.id, { title: "Emma" }))).toEqual([400, "validation_failed"]);
    expect(outcome(await put(served, made.id, { title: "Dune" }))).toEqual([400, "validation_failed"]);
    expect((await put(served, made.id, {})).status).toBe(200);
    expect((await put(served, made.id, { pages: 412 })).json()).toEqual({ ...made, pages: 412 });
  });
});

/** By a clock that stands still no update loses for too long, however busy the machine is. */
const unhurried = () => ({ clock: manualClock(Date.now()) });

describeServed("updates at one time", (serve) => {
  it("of 50 different fields all survive", async () => {
    const served = await serve(shop, unhurried());
    await expectAllToSurvive([served, served]);
  });

  it("of one field end with one of the values, and every answer shows its own", async () => {
    const served = await serve(shop, unhurried());
    const { id } = await make(served, "books", { n: -1 }, key);
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, n) => served.send(`/api/books/${id}`, { method: "PUT", body: { n }, as: key })),
    );
    expect(replies.map((reply) => reply.json().n)).toEqual(replies.map((_, n) => n));
    const { n } = (await served.send(`/api/books/${id}`, { as: key })).json<{ n: number }>();
    expect(n).toBeGreaterThanOrEqual(0);
  });

  it("and a deletion leave nothing: whoever comes later hears 404", async () => {
    const served = await serve(shop, unhurried());
    const { id } = await make(served, "books", {}, key);
    const path = `/api/books/${id}`;
    const updates = Array.from({ length: 10 }, (_, n) =>
      served.send(path, { method: "PUT", body: { [`f${n}`]: n }, as: key }),
    );
    const [gone, ...replies] = await Promise.all([served.send(path, { method: "DELETE", as: key }), ...updates]);
    expect(gone.status).toBe(204);
    expect(replies.every((reply) => reply.status === 200 || reply.code === "not_found")).toBe(true);
    expect((await served.send(path, { as: key })).status).toBe(404);
    expect((await list(served, "books", key)).count).toBe(0);
  });
});

describeReplicas("updates at one time", (serveTwice) => {
  it("of different fields on different replicas all survive", async () => {
    await expectAllToSurvive(await serveTwice(shop, unhurried()));
  });

  it("that keep losing are refused with 503 and Retry-After, and leave nothing behind", async () => {
    const planes = await serveTwice(shop, { clock: hurryingClock() });
    // Before its first answer a replica begins few requests at once, and by this clock the others
    // would wait too long.
    for (const plane of planes) await list(plane, "books", key);
    const { replies, left } = await putFields(planes, 50);
    const lost = replies.filter((reply) => reply.status !== 200);
    expect(lost.length).toBeGreaterThan(0);
    for (const reply of lost) {
      expect(outcome(reply)).toEqual([503, "write_conflict"]);
      expect(Number(reply.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    }
    const won = replies.flatMap((reply, n) => (reply.status === 200 ? [`f${n}`] : []));
    expect(fieldsOf(left)).toEqual(won.toSorted());
  });
});

async function expectAllToSurvive(planes: readonly [Served, Served]): Promise<void> {
  const { replies, left } = await putFields(planes, 50);
  expect(replies.map((reply) => reply.status)).toEqual(Array(50).fill(200));
  expect(replies.every((reply, n) => reply.json()[`f${n}`] === n)).toBe(true);
  expect(fieldsOf(left)).toEqual(Array.from({ length: 50 }, (_, n) => `f${n}`).toSorted());
}

/**
 * Updates as many different fields of one object at once; resolves with what is stored in the end.
 */
async function putFields(
  [one, other]: readonly [Served, Served],
  fields: number,
): Promise<{ readonly replies: readonly Reply[]; readonly left: ServedObject }> {
  const { id } = await make(one, "books", {}, key);
  const path = `/api/books/${id}`;
  const replies = await Promise.all(
    Array.from({ length: fields }, (_, n) =>
      (n % 2 ? one : other).send(path, { method: "PUT", body: { [`f${n}`]: n }, as: key }),
    ),
  );
  return { replies, left: (await other.send(path, { as: key })).json<ServedObject>() };
}

function fieldsOf(object: ServedObject): readonly string[] {
  return Object.keys(object)
    .filter((name) => name.startsWith("f"))
    .toSorted();
}

/**
 * Three seconds pass between any two looks at it, so that whoever loses a race has no time left for
 * another.
 */
function hurryingClock(): Clock {
  let time = 1_760_000_000_000;
  const look = (): number => {
    time += 3_000;
    return time;
  };
  return { now: look, monotonic: look };
}
