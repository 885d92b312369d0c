// PUT of a collection with the fields of one unique rule: creates the object that has these values,
// or updates it.

import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../core/config/types.ts";
import { wrapMethods } from "../../dataplane/store/observed-store.ts";
import { list, make, outcome, type Sender, type ServedObject } from "../support/http/api-calls.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed, describeServedOnBothStores, type Served, serveFrom } from "../support/http/served.ts";
import { fillCollection, idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const [key, other, admin] = [apikey("writer"), apikey("other"), apikey("admin")];
const schema: JsonObject = {
  type: "object",
  properties: {
    isbn: { type: "string", maxLength: 20 },
    title: { type: "string" },
    tenant: { type: "string", maxLength: 20 },
    slug: { type: ["string", "null"], maxLength: 20 },
    at: { type: "object", properties: { row: { type: "integer" } } },
    email: { type: "string", maxLength: 20 },
    archived: { type: "boolean" },
  },
};
const field = (name: string) => ({ name, path: name.split(".") });
const unique = [
  { fields: [field("isbn")] },
  { fields: [field("tenant"), field("slug")], ignoreCase: true },
  { fields: [field("at.row")] },
  { fields: [field("email")], per: "Owner", where: [{ field: field("archived"), value: false }] },
] as const;
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withKey("reader", { access: "Read" }),
  withKey("admin", { role: "Administrators" }),
  withResource("books", { schema, unique }),
  withResource("shared", { schema, unique, scope: { read: "All" } }),
  withResource("sealed", { schema, unique, access: { update: "Administrators" } }),
  withResource("closed", { schema, unique, access: { create: "Administrators" } }),
  withResource("filled", {
    schema: {
      ...schema,
      required: ["isbn", "title"],
      properties: {
        isbn: { type: "string", maxLength: 9, default: "none" },
        title: { type: "string", default: "untitled" },
      },
    },
    unique: [unique[0]],
    defaults: "Apply",
  }),
  withResource("plain", { schema }),
);

describeServedOnBothStores("a PUT of a collection", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const put = (path: string, body: unknown, { as = key, headers = {} } = {}) =>
    served.send(`/api/${path}`, { method: "PUT", body, as, headers });

  it("creates with the values in the query, then updates as a PUT of the object does", async () => {
    const created = await put("books?isbn=978", { title: "Dune", tenant: "t" });
    const { id } = created.json<ServedObject>();
    expect([created.status, created.headers.location]).toEqual([201, expect.stringMatching(`/api/books/${id}$`)]);
    expect(created.json()).toMatchObject({ title: "Dune", isbn: "978", _metadata: { creator: "writer" } });
    const updated = await put("books?isbn=978", { title: "Emma", isbn: "978" });
    expect([updated.status, updated.headers.location]).toEqual([200, undefined]);
    expect(updated.json()).toMatchObject({ id, title: "Emma", tenant: "t", isbn: "978" });
    expect((await served.send(`/api/books/${id}`, { as: key })).headers.etag).toBe(updated.headers.etag);
  });

  it("finds an object by several fields, whatever their case, and inside an object", async () => {
    const first = await put("books?slug=One&tenant=T", {});
    expect((await put("books?tenant=t&slug=ONE", { slug: "one" })).json()).toMatchObject({
      id: first.json<ServedObject>().id,
      slug: "one",
      tenant: "T",
    });
    for (const status of [201, 200]) {
      const placed = await put("books?at.row=5", { title: "x", at: { shelf: 1 } });
      expect([placed.status, placed.json().at]).toEqual([status, { shelf: 1, row: 5 }]);
    }
    expect((await put("books?at.row=5.0", { title: "y" })).json()).toMatchObject({ title: "y", at: { row: 5 } });
  });

  it("fills in the values of the query before defaults, and defaults on create alone", async () => {
    expect((await put("filled?isbn=1", {})).json()).toMatchObject({ isbn: "1", title: "untitled" });
    expect((await put("filled?isbn=1", { title: "Dune" })).json()).toMatchObject({ isbn: "1", title: "Dune" });
    expect((await put("filled?isbn=1", {})).json()).toMatchObject({ isbn: "1", title: "Dune" });
  });

  it.each([
    ["isbn=1", { isbn: "2" }, ["/isbn"]],
    ["isbn=1", { isbn: null }, ["/isbn"]],
    ["at.row=1", { at: { row: 2 } }, ["/at/row"]],
    ["email=a", { archived: true }, ["/archived"]],
    ["email=a", {}, ["/archived"]],
  ])("refuses ?%s with the body %j, and stores nothing", async (query, body, pointers) => {
    const refused = await put(`books?${query}`, body);
    expect(outcome(refused)).toEqual([400, "validation_failed"]);
    expect(refused.json<{ errors: { pointer: string }[] }>().errors.map(({ pointer }) => pointer)).toEqual(pointers);
    expect((await list(served, `books?${query}`, key)).count).toBe(0);
  });

  it("refuses an update by which the object would no longer have the values", async () => {
    const first = await put("books?email=keep", { archived: false });
    const refused = await put("books?email=keep", { archived: true });
    expect([first.status, ...outcome(refused)]).toEqual([201, 400, "validation_failed"]);
  });

  it.each(["", "?", "?title=x", "?isbn=1&title=x", "?tenant=t", "?isbn=1&isbn=1", "?isbn:ne=1", "?at.row=x"])(
    "refuses books%s, which names no object",
    async (query) => {
      expect(outcome(await put(`books${query}`, {}))).toEqual([400, "invalid_parameter"]);
    },
  );

  it("evaluates preconditions on what is there", async () => {
    expect(outcome(await put("books?isbn=p", {}, { headers: { "if-match": "*" } }))).toEqual([
      412,
      "precondition_failed",
    ]);
    const made = await put("books?isbn=p", {}, { headers: { "if-none-match": "*" } });
    expect(made.status).toBe(201);
    expect((await put("books?isbn=p", {}, { headers: { "if-none-match": "*" } })).status).toBe(412);
    const tag = { "if-match": made.headers.etag ?? "" };
    expect((await put("books?isbn=p", { title: "1" }, { headers: tag })).status).toBe(200);
    expect((await put("books?isbn=p", { title: "2" }, { headers: tag })).status).toBe(412);
  });

  it("tells who may not see the object what a POST tells, and who may not change it 403", async () => {
    for (const resource of ["books", "shared"]) await make(served, resource, { isbn: "mine" }, key);
    expect(outcome(await put("books?isbn=mine", { title: "x" }, { as: other }))).toEqual([409, "not_unique"]);
    expect(outcome(await put("shared?isbn=mine", { title: "x" }, { as: other }))).toEqual([403, "insufficient_access"]);
    expect((await put("books?isbn=mine", { title: "x" }, { as: admin })).json()).toMatchObject({
      title: "x",
      _metadata: { creator: "writer" },
    });
  });

  it("has per Owner an object of each caller", async () => {
    const body = { archived: false };
    const ids = await Promise.all(
      [key, other, admin].map(async (as) => (await put("shared?email=e", body, { as })).json<ServedObject>().id),
    );
    expect(new Set(ids).size).toBe(3);
    expect((await put("shared?email=e", body, { as: admin })).json()).toMatchObject({ id: ids[2] });
  });

  it("needs the rights to create and to update", async () => {
    for (const resource of ["sealed", "closed"]) {
      expect(outcome(await put(`${resource}?isbn=1`, {}))).toEqual([403, "insufficient_access"]);
    }
    expect(outcome(await put("books?isbn=1", {}, { as: apikey("reader") }))).toEqual([403, "insufficient_access"]);
    expect((await put("sealed?isbn=1", {}, { as: admin })).status).toBe(201);
  });

  it("is a method of resources with unique rules alone", async () => {
    const refused = await put("plain?isbn=1", {});
    expect([...outcome(refused), refused.headers.allow]).toEqual([
      405,
      "method_not_allowed",
      "GET, HEAD, POST, OPTIONS",
    ]);
    const preflight = (path: string) =>
      served.send(path, {
        method: "OPTIONS",
        headers: { origin: "https://a.example", "access-control-request-method": "PUT" },
      });
    const allowed = async (path: string) => (await preflight(path)).headers["access-control-allow-methods"];
    expect(await allowed("/api/plain")).not.toContain("PUT");
    expect(await allowed("/api/books")).toContain("PUT");
  });
});

describeServed("a PUT of a collection that another replica overtakes", (serve) => {
  it("changes the object that the other one created since it looked", async () => {
    const first = await serve(shop);
    const put = (sender: Sender, title: string) =>
      sender.send("/api/books?isbn=late", { method: "PUT", body: { title }, as: key });
    let created: Reply | undefined;
    const overtaken = wrapMethods(first.store, (name, method) =>
      name !== "candidates"
        ? method
        : async (...args) => {
            const found = await method(...args);
            created ??= await put(first, "first");
            return found;
          },
    );
    const late = await serveFrom(overtaken, [shop], { namespace: first.namespace });
    onTestFinished(() => late.plane.close());
    const changed = await put(late, "second");
    expect([created?.status, changed.status, changed.json()]).toEqual([
      201,
      200,
      expect.objectContaining({ id: created?.json<ServedObject>().id, title: "second" }),
    ]);
  });
});

describeServed("a PUT of a collection whose object changes while it looks", (serve) => {
  /** `meanwhile` runs between finding the id of the object that has the value and reading it. */
  async function overtakenPut(meanwhile: (served: Served, found: ServedObject) => Promise<unknown>) {
    const first = await serve(shop);
    const found = await make(first, "books", { isbn: "1" }, key);
    let overtaking: Promise<unknown> | undefined;
    const overtaken = wrapMethods(first.store, (name, method) =>
      name !== "read"
        ? method
        : async (...args) => {
            overtaking ??= meanwhile(first, found);
            await overtaking;
            return method(...args);
          },
    );
    const late = await serveFrom(overtaken, [shop], { namespace: first.namespace });
    onTestFinished(() => late.plane.close());
    const body = { isbn: "1", title: "new" };
    const changed = await late.send("/api/books?isbn=1", { method: "PUT", body, as: key });
    return { changed, books: (await list(first, "books?_sort=id&_fields=isbn,title", key)).items };
  }

  it("changes the one that the same caller created in its place", async () => {
    const { changed, books } = await overtakenPut(async (served, { id }) => {
      await served.send(`/api/books/${id}`, { method: "DELETE", as: key });
      await make(served, "books", { isbn: "1" }, key);
    });
    expect(changed.status).toBe(200);
    expect(books).toEqual([{ id: changed.json<ServedObject>().id, isbn: "1", title: "new" }]);
  });

  it("creates one where that has another value now, and leaves that one alone", async () => {
    const { changed, books } = await overtakenPut((served, { id }) =>
      served.send(`/api/books/${id}`, { method: "PATCH", body: { isbn: "2" }, as: key }),
    );
    expect(changed.status).toBe(201);
    expect(books).toMatchObject([{ isbn: "2" }, { isbn: "1", title: "new" }]);
  });
});

describeServed("a PUT of a collection whose rule is new", (serve) => {
  it("waits until the rule is built, then finds objects from before, unless several have the values", async () => {
    const served = await serve(shop);
    const collection = { project: { namespace: served.namespace, name: "shop" }, resource: "plain" };
    const isbns = [...Array(2_000).keys(), 7];
    await fillCollection(served.store, collection, isbns.length, (n) => objectOf(n, { isbn: `"${isbns[n]}"` }));
    served.change(withResource("plain", { schema, unique }));
    const put = (isbn: number) =>
      served.send(`/api/plain?isbn=${isbn}`, { method: "PUT", body: { title: "found" }, as: admin });
    expect(outcome(await put(1))).toEqual([503, "index_building"]);
    expect(served.plane.buildingIndexes()).toMatchObject([
      { resource: "plain", indexes: expect.arrayContaining(["unique(isbn)"]) },
    ]);
    await eventually(() => expect(served.plane.buildingIndexes()).toEqual([]));
    const updated = await put(1);
    expect([updated.status, updated.json<ServedObject>().id]).toEqual([200, idOf(1)]);
    expect(outcome(await put(7))).toEqual([409, "not_unique"]);
  });
});

describe("many PUTs of one collection at once", () => {
  describeServed("on three replicas", (serve) => {
    it("create one object: one is answered 201, all others 200", async () => {
      const first = await serve(shop);
      const { namespace } = first;
      const replicas = [first, await serve(shop, { namespace }), await serve(shop, { namespace })] as const;
      const replies = await Promise.all(
        Array.from({ length: 64 }, (_, n) =>
          (replicas[n % 3] ?? first).send("/api/books?isbn=race", {
            method: "PUT",
            body: { title: String(n) },
            as: key,
          }),
        ),
      );
      const statuses = replies.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(63).fill(200), 201]);
      expect(new Set(replies.map((reply) => reply.json<ServedObject>().id)).size).toBe(1);
    });
  });
});
