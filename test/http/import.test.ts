// Importing lines of an export over HTTP: what is stored, what is refused by its line, who may, and
// what an import that ends early leaves behind.

import { once } from "node:events";
import { Agent, type ClientRequest, request as httpRequest } from "node:http";
import { beforeEach, expect, it } from "vitest";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { ExportWriter } from "../../core/transfer/export-writer.ts";
import { list, login, outcome } from "../support/http/api-calls.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  bearer,
  project,
  withKey,
  withLimits,
  withoutKey,
  withResource,
  withRootKey,
  withServing,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { idOf, objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";

const admin = apikey("admin");
const schema = {
  type: "object",
  properties: { title: { type: "string" }, price: { type: "number" }, isbn: { type: "string", maxLength: 20 } },
  required: ["title"],
};
const log = { retentionSeconds: 60, maxEntries: 1_000 };
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withKey("reader", { role: "Administrators", access: "Read" }),
  withUser("alice"),
  withResource("books", {
    schema,
    indexes: ["price", "title"],
    unique: [{ fields: [{ name: "isbn", path: ["isbn"] }] }],
    access: { read: "Anyone" },
  }),
  withResource("locked", { access: { create: "Nobody" } }),
  withResource("logged", { changes: log }),
  withResource("carts", { expiry: { field: { name: "until", path: ["until"] } } }),
  withRootKey("settings", { initialValue: '{"theme":"light"}' }),
  withLimits({ maxObjectBytes: 100_000, maxDocumentBytes: 100_000 }),
);

interface Summary extends Readonly<Record<"created" | "replaced" | "deleted" | "unchanged" | "refused", number>> {
  readonly errors: readonly { readonly line: number; readonly code: string; readonly detail: string }[];
}

function bookText(n: number, members: Readonly<Record<string, string>> = {}, owner = "user:alice"): string {
  return objectOf(n, { title: `"Book ${n}"`, ...members }, owner).text;
}

function lineOf(text: string, resource = "books"): string {
  return `{"resource":"${resource}","object":${text}}\n`;
}

function books(count: number): string {
  return Array.from({ length: count }, (_, n) => lineOf(bookText(n, { isbn: `"${n}"`, price: String(n) }))).join("");
}

function file(texts: readonly string[]): string {
  const writer = new ExportWriter();
  const head = { exportedAt: "2026-03-01T12:00:00.000Z", resources: ["books"], rootKeys: [] };
  return Buffer.concat([writer.head(head), writer.objects("books", texts), writer.end()]).toString();
}

function importInto(served: Served, body: string | Uint8Array, query = "", as = admin): Promise<Reply> {
  const headers = { "content-type": "application/x-ndjson" };
  return served.send(`/import${query}`, { method: "POST", body, as, headers });
}

async function summaryOf(served: Served, body: string, query = ""): Promise<Summary> {
  const reply = await importInto(served, body, query);
  expect([reply.status, reply.text]).toEqual([200, expect.anything()]);
  return reply.json<Summary>();
}

/** The codes of refused lines, by number. */
async function refusedIn(served: Served, body: string, query = ""): Promise<readonly (readonly [number, string])[]> {
  return (await summaryOf(served, body, query)).errors.map(({ line, code }) => [line, code]);
}

async function stored(served: Served, resource = "books"): Promise<readonly string[]> {
  const texts: string[] = [];
  const { namespace } = served;
  for await (const some of served.store.scan({ project: { namespace, name: "shop" }, resource }, {}))
    texts.push(...some);
  return texts;
}

describeServedOnBothStores("an import", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });

  it("stores objects and values byte for byte, with their owners, in a collection as any", async () => {
    const texts = [
      bookText(1, { odd: '{"b":18446744073709551615,"10":-0.0,"a":1.50,"":"\\u0000é€😀"}' }),
      bookText(2, {}, "apikey:frontend"),
      bookText(3, {}, "external:corp/user:one"),
      bookText(4, { price: "7" }, "anonymous:anonymous"),
    ];
    const value = '{"b":[1.0,{}],"a":null}';
    const body = `${texts.map((text) => lineOf(text)).join("")}{"rootKey":"settings","value":${value}}`;
    expect(await summaryOf(served, body)).toEqual({
      dryRun: false,
      ...{ created: 5, replaced: 0, deleted: 0, unchanged: 0, expired: 0, refused: 0 },
      errors: [],
    });
    expect(await stored(served)).toEqual(texts.map((text) => text.replace("1.50", "1.5")));
    expect((await served.send("/json/settings")).text).toBe(value);
    expect((await list(served, "books?price=7", admin)).count).toBe(1);
    const { access_token } = await login(served, "alice");
    expect((await list(served, "books?_metadata.creator_type=user", bearer(access_token))).count).toBe(1);
  });

  it("that is repeated changes nothing, also where the resource is full and values are unique", async () => {
    served.change(withResource("books", { ...bookOptions, maxObjects: 40 }));
    expect(await summaryOf(served, books(40))).toMatchObject({ created: 40, refused: 0 });
    for (const query of ["", "?_mode=replace"]) {
      expect(await summaryOf(served, books(40), query)).toMatchObject({ created: 0, unchanged: 40, refused: 0 });
    }
    expect((await list(served, "books", admin)).count).toBe(40);
    const withOneMore = books(40) + lineOf(bookText(40));
    expect(await refusedIn(served, withOneMore)).toEqual([[41, "quota_exceeded"]]);
  });

  it("refuses lines by their numbers, and stores the others", async () => {
    await summaryOf(served, lineOf(bookText(1, { isbn: '"taken"' })));
    const lines: readonly (readonly [line: string, code: string | undefined])[] = [
      [lineOf(bookText(2)), undefined],
      [lineOf(bookText(3, { title: "1" })), "validation_failed"],
      [lineOf(bookText(4), "f".repeat(50_000)), "unknown_resource"],
      ['{"rootKey":"theme","value":1}\n', "unknown_root_key"],
      ["\n", undefined],
      ['{"resource":"books","object"\n', "invalid_line"],
      [lineOf(bookText(5)).replace(/"created":\d+/, '"created":"now"'), "invalid_line"],
      [lineOf(bookText(5)).replace('"created":', '"created":1'), "invalid_line"],
      [lineOf(bookText(5)).replace('"_metadata":', '"_metadata":{"_metadata":').replace(/}$/m, "}}"), "invalid_line"],
      ...["user:", "anonymous:alice", "external:alice", `user:${"x".repeat(254)}`].map(
        (owner) => [lineOf(bookText(5, {}, owner)), "invalid_line"] as const,
      ),
      [lineOf(bookText(5)).replace('"creator":', '"by":'), "invalid_line"],
      [lineOf(bookText(5)).replaceAll("-7000-", "-4000-"), "invalid_line"],
      [lineOf(bookText(5, { _limit: "1" })), "reserved_field"],
      [lineOf(bookText(5, { title: `"${"x".repeat(99_990)}"` })), "document_too_large"],
      [lineOf(bookText(5, { title: `"${"x".repeat(300_000)}"` })), "document_too_large"],
      [lineOf(bookText(5, { isbn: '"taken"' })), "not_unique"],
      [lineOf(bookText(1, { isbn: '"other"' })), "object_exists"],
      [lineOf(objectOf(1, {}).text, "locked"), "insufficient_access"],
      [`{"resource":"books","deleted":"${idOf(1)}"}\n`, "invalid_line"],
      [lineOf(bookText(6)), undefined],
    ];
    const expected = lines.flatMap(([, code], at) => (code === undefined ? [] : [[at + 1, code]]));
    const summary = await summaryOf(served, lines.map(([line]) => line).join(""));
    expect(summary.errors.map(({ line, code }) => [line, code])).toEqual(expected);
    expect(summary).toMatchObject({ created: 2, refused: expected.length });
    expect(JSON.stringify(summary).length).toBeLessThan(10_000);
    expect(await stored(served)).toEqual([bookText(1, { isbn: '"taken"' }), bookText(2), bookText(6)]);
  });

  it("with _mode=replace makes what is stored the same, line after line, and leaves owners as they are", async () => {
    await summaryOf(served, books(3));
    const body = [
      lineOf(bookText(0, { price: "100" })),
      lineOf(bookText(1, {}, "user:bob")),
      `{"resource":"books","deleted":"${idOf(2)}"}\n`,
      `{"resource":"books","deleted":"${idOf(9)}"}\n`,
      '{"changes":true}\n',
      ...Array.from({ length: 40 }, (_, n) => lineOf(bookText(7, { price: String(n) }))),
      '{"rootKey":"settings","value":1}\n{"rootKey":"settings","value":2}\n',
    ].join("");
    const summary = await summaryOf(served, body, "?_mode=replace");
    expect(summary.errors).toMatchObject([{ line: 2, code: "object_exists" }]);
    expect(summary).toMatchObject({ created: 2, replaced: 41, deleted: 1, unchanged: 1 });
    const [, one] = books(3).split("\n");
    expect(await stored(served)).toEqual([
      bookText(0, { price: "100" }),
      one?.slice(one.indexOf('{"id"'), -1),
      bookText(7, { price: "39" }),
    ]);
    expect((await list(served, "books?_sort=-price&_limit=1", admin)).items).toMatchObject([{ id: idOf(0) }]);
    expect((await served.send("/json/settings")).text).toBe("2");
  });

  it("puts a value in place of nothing but the initial one, unless it replaces", async () => {
    const line = '{"rootKey":"settings","value":{"theme":"dark"}}';
    expect(await summaryOf(served, line)).toMatchObject({ created: 1 });
    expect(await summaryOf(served, line)).toMatchObject({ unchanged: 1 });
    const other = line.replace("dark", "grey");
    expect(await refusedIn(served, other)).toEqual([[1, "object_exists"]]);
    expect(await summaryOf(served, other, "?_mode=replace")).toMatchObject({ replaced: 1 });
    const large = `{"rootKey":"settings","value":"${"x".repeat(100_000)}"}`;
    expect(await refusedIn(served, large, "?_mode=replace")).toEqual([[1, "document_too_large"]]);
  });

  it("says what it would do, and does nothing, with _dryRun=true", async () => {
    await summaryOf(served, books(1));
    const body = books(2) + lineOf(bookText(3, { title: "1" })) + lineOf(bookText(0));
    const summary = await summaryOf(served, body, "?_dryRun=true");
    expect(summary).toMatchObject({ dryRun: true, created: 1, unchanged: 1, refused: 2 });
    expect(await summaryOf(served, body, "?_dryRun=true&_mode=replace")).toMatchObject({ created: 1, replaced: 1 });
    expect(await stored(served)).toHaveLength(1);
  });

  it("knows in a dry run values that another object has, and what has expired", async () => {
    await summaryOf(served, books(2));
    const [own, taken] = [bookText(1, { isbn: '"1"', price: "7" }), bookText(7, { isbn: '"1"' })];
    const body = lineOf(own) + lineOf(taken) + lineOf(objectOf(8, { until: '"2026-01-01T00:00:00Z"' }).text, "carts");
    const tried = await summaryOf(served, body, "?_dryRun=true&_mode=replace");
    expect(tried).toMatchObject({ replaced: 1, refused: 1, expired: 1, errors: [{ line: 2, code: "not_unique" }] });
    const done = await summaryOf(served, body, "?_mode=replace");
    expect(done).toEqual({ ...tried, dryRun: false });
  });

  it("stops where a quota of the project is full", async () => {
    served.change(withLimits({ quota: { objects: 30 } }));
    const summary = await summaryOf(served, books(100));
    expect(summary).toMatchObject({ created: 30, refused: 70 });
    expect(summary.errors[0]?.code).toBe("quota_exceeded");
    expect(await summaryOf(served, books(30))).toMatchObject({ unchanged: 30 });
    expect((await list(served, "books", admin)).count).toBe(30);
  });

  it("leaves an entry in the log of changes for each object", async () => {
    const logged = { project: { namespace: served.namespace, name: "shop" }, resource: "logged", changes: log };
    const begin = await served.store.newestChange(logged);
    await summaryOf(served, Array.from({ length: 40 }, (_, n) => lineOf(objectOf(n, {}).text, "logged")).join(""));
    const read = await served.store.changesAfter(logged, begin, 100);
    expect(read).toMatchObject({ outcome: "changes" });
    expect("changes" in read && read.changes.map(({ id }) => id)).toEqual(
      Array.from({ length: 40 }, (_, n) => idOf(n)),
    );
  });
});

const bookOptions = { schema, indexes: ["price", "title"] };

describeServed("an import of a file", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });
  const texts = [bookText(1), bookText(2)];

  it("checks its end, where its head is there", async () => {
    expect(await summaryOf(served, file(texts))).toMatchObject({ created: 2, refused: 0 });
    const lines = file(texts).split(/(?<=\n)/);
    const [head = "", one = "", two = "", end = ""] = lines;
    expect(await refusedIn(served, head + one + two)).toEqual([[4, "invalid_line"]]);
    expect(await refusedIn(served, head + two + one + end)).toEqual([[4, "invalid_line"]]);
    expect(await refusedIn(served, head + one + end)).toEqual([[3, "invalid_line"]]);
    expect(await refusedIn(served, lines.join("") + one)).toEqual([[5, "invalid_line"]]);
    expect(await refusedIn(served, one + head)).toEqual([[2, "invalid_line"]]);
  });

  it("of another version is refused as a whole", async () => {
    const reply = await importInto(served, file(texts).replace('"version":1', '"version":2'));
    expect(outcome(reply)).toEqual([400, "invalid_line"]);
    expect(reply.text).toContain("version 2");
    expect(await stored(served)).toEqual([]);
  });
});

describeServed("a request to import", (serve) => {
  it("is for administrators who may write", async () => {
    const served = await serve(shop);
    const { access_token } = await login(served, "alice");
    expect(outcome(await served.send("/import", { method: "POST", body: books(1) }))).toEqual([
      401,
      "authentication_required",
    ]);
    for (const as of [bearer(access_token), apikey("reader")]) {
      expect(outcome(await importInto(served, books(1), "", as))).toEqual([403, "insufficient_access"]);
    }
    served.change(withServing("ReadOnly"));
    expect(outcome(await importInto(served, books(1)))).toEqual([403, "project_read_only"]);
    expect(await stored(served)).toEqual([]);
  });

  it("is refused with other parameters, methods and media types", async () => {
    const served = await serve(shop);
    for (const query of ["?_mode=merge", "?_dryRun=1", "?mode=create"]) {
      expect(outcome(await importInto(served, books(1), query))).toEqual([400, "invalid_parameter"]);
    }
    expect(outcome(await served.send("/import", { as: admin }))).toEqual([405, "method_not_allowed"]);
    for (const headers of [{ "content-type": "text/csv" }, { "content-encoding": "gzip" }]) {
      const sent = { method: "POST", body: books(1), as: admin, headers };
      expect(outcome(await served.send("/import", sent))).toEqual([415, "unsupported_media_type"]);
    }
    expect(await stored(served)).toEqual([]);
  });

  it("may have any length, and is not read faster than it is written", async () => {
    const served = await serve(shop);
    const filler = `"${"x".repeat(90_000)}"`;
    const body = Array.from({ length: 100 }, (_, n) => lineOf(bookText(n, { filler }))).join("");
    expect(await summaryOf(served, body)).toMatchObject({ created: 100 });
  });

  it("that loses its key in the middle writes no more, and answers 401", async () => {
    const served = await serve(shop);
    const sent = begin(served);
    sent.write(books(40));
    await eventually(async () => expect((await stored(served)).length).toBeGreaterThan(0));
    served.change(withoutKey("admin"));
    const [answer] = await Promise.all([once(sent, "response"), sent.end(lineOf(bookText(41)).repeat(1))]);
    expect((answer[0] as { statusCode: number }).statusCode).toBe(401);
    expect(await stored(served)).not.toContain(bookText(41));
  });

  it("that is refused in the middle leaves its connection to the next request", async () => {
    const served = await serve(shop, { requestTimeoutMs: 10_000 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const path = `${served.base}/import`;
    const headers = { "content-type": "application/x-ndjson" };
    const refused = send(served.origin, path, { method: "POST", body: books(20_000), as: admin, headers }, agent);
    await eventually(async () => expect((await stored(served)).length).toBeGreaterThan(0));
    served.change(withoutKey("admin"));
    expect((await refused).status).toBe(401);
    expect((await send(served.origin, `${served.base}/api/books`, {}, agent)).status).toBe(200);
    agent.destroy();
  });

  it("that the store fails says that a part is stored, and to send it again", async () => {
    const served = await serve(shop);
    const failing: typeof served.store.create = () => Promise.reject(new StoreUnavailable("away"));
    Object.assign(served.store, { create: failing });
    const reply = await importInto(served, books(1));
    expect(outcome(reply)).toEqual([503, "store_unavailable"]);
    expect(reply.json().detail).toContain("Send it again");
  });

  it("that is cut off leaves what arrived, and is completed by another one", async () => {
    const served = await serve(shop);
    const sent = begin(served);
    sent.on("error", () => undefined);
    sent.write(books(32));
    await eventually(async () => expect(await stored(served)).toHaveLength(32));
    sent.destroy();
    const summary = await summaryOf(served, books(50));
    expect(summary).toMatchObject({ created: 18, unchanged: 32, refused: 0 });
  });
});

function begin({ origin, base }: Served): ClientRequest {
  const { hostname, port } = new URL(origin);
  const headers = { authorization: admin, "content-type": "application/x-ndjson" };
  return httpRequest({ hostname, port, path: `${base}/import`, method: "POST", headers, agent: false });
}
