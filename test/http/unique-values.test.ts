// Unique rules over HTTP: what a write that would break one is answered, and that objects which had
// the same values before can be edited.

import { beforeAll, expect, it } from "vitest";
import type { JsonObject } from "../../core/config/types.ts";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, changed, project, withKey, withLimits, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const other = apikey("other");
const schema: JsonObject = {
  type: "object",
  properties: {
    isbn: { type: "string", maxLength: 256 },
    shelf: { type: "object", properties: { row: { type: "integer" } } },
    slug: { type: ["string", "null"], maxLength: 20 },
    email: { type: "string", maxLength: 256 },
    archived: { type: "boolean" },
  },
};
const isbn = { fields: [{ name: "isbn", path: ["isbn"] }] };
const place = {
  fields: [
    { name: "shelf.row", path: ["shelf", "row"] },
    { name: "slug", path: ["slug"] },
  ],
  ignoreCase: true,
} as const;
const email = {
  fields: [{ name: "email", path: ["email"] }],
  per: "Owner",
  where: [{ field: { name: "archived", path: ["archived"] }, value: false }],
} as const;
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("books", { schema, unique: [isbn, place, email] }),
  withResource("plain", { schema }),
);

describeServedOnBothStores("values that must be unique", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const write = (method: string, path: string, body: unknown, as = key) =>
    served.send(`/api/${path}`, { method, body, as });

  it("answers 409 with the pointers of the rule's fields, and nothing of the other object", async () => {
    const first = await make(served, "books", { isbn: "a", shelf: { row: 1 }, slug: "Ünder" }, key);
    const refused = await write("POST", "books", { shelf: { row: 1.0 }, slug: "üNDER" }, other);
    expect(outcome(refused)).toEqual([409, "not_unique"]);
    expect(refused.json().errors).toEqual([
      { pointer: "/shelf/row", keyword: "unique", message: "Another object has this value and the same `slug`" },
      { pointer: "/slug", keyword: "unique", message: "Another object has this value and the same `shelf.row`" },
    ]);
    expect(refused.text).not.toContain(first.id);
    const byIsbn = await write("POST", "books", { isbn: "a" }, other);
    expect(byIsbn.json().errors).toEqual([
      { pointer: "/isbn", keyword: "unique", message: "Another object has this value" },
    ]);
    expect(outcome(await write("POST", "books", { isbn: "A" }, other))).toEqual([201, undefined]);
    expect((await list(served, "books", other)).count).toBe(1);
  });

  it.each(["PUT", "PATCH"])("checks a %s that changes the value, and lets an object keep its own", async (method) => {
    const one = await make(served, "books", { isbn: `${method} 1` }, key);
    await make(served, "books", { isbn: `${method} 2` }, other);
    const path = `books/${one.id}`;
    expect(outcome(await write(method, path, { isbn: `${method} 2` }))).toEqual([409, "not_unique"]);
    expect((await write(method, path, { isbn: `${method} 1`, slug: method })).status).toBe(200);
    expect((await write(method, path, { isbn: `${method} 3` })).status).toBe(200);
    expect(outcome(await write("POST", "books", { isbn: `${method} 1` }))).toEqual([201, undefined]);
  });

  it("takes any number of objects whose value is missing or null, or who are outside of where", async () => {
    const bodies = [
      {},
      {},
      { slug: null, shelf: { row: 7 } },
      { slug: null, shelf: { row: 7 } },
      { shelf: { row: 7 } },
    ];
    for (const body of bodies) expect((await write("POST", "books", body)).status).toBe(201);
    const archived = { email: "a@b.c", archived: true };
    for (const body of [archived, archived]) expect((await write("POST", "books", body)).status).toBe(201);
  });

  it("compares per Owner the objects of one creator", async () => {
    const body = { email: "e@b.c", archived: false };
    expect((await write("POST", "books", body, key)).status).toBe(201);
    expect((await write("POST", "books", body, other)).status).toBe(201);
    const refused = await write("POST", "books", body, other);
    expect([...outcome(refused), refused.json().detail]).toEqual([
      409,
      "not_unique",
      "Another object of the same owner has the same `email`",
    ]);
  });

  it("distinguishes values of 256 code points in their last one", async () => {
    const start = "\u{10ffff}".repeat(255);
    for (const end of ["\u{10fffe}", "\u{10ffff}"])
      expect((await write("POST", "books", { isbn: start + end })).status).toBe(201);
    expect(outcome(await write("POST", "books", { isbn: `${start}\u{10fffe}` }))).toEqual([409, "not_unique"]);
  });

  it("leaves room in a quota where it refuses", async () => {
    const limited = await serve(changed(shop, withLimits({ quota: { objects: 2, bytes: 600 } })));
    const send = (isbn: string) => limited.send("/api/books", { method: "POST", body: { isbn }, as: key });
    expect((await send("a")).status).toBe(201);
    for (let n = 0; n < 3; n += 1) expect(outcome(await send("a"))).toEqual([409, "not_unique"]);
    expect((await send("b")).status).toBe(201);
    expect(outcome(await send("c"))).toEqual([403, "quota_exceeded"]);
  });

  it("repeats the first answer to a repeated POST, though its own object has the value", async () => {
    const send = () =>
      served.send("/api/books", {
        method: "POST",
        body: { isbn: "again" },
        as: key,
        headers: { "idempotency-key": "k" },
      });
    const [first, second] = [await send(), await send()];
    expect([second.status, second.text]).toEqual([201, first.text]);
  });
});
