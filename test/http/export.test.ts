// A project's data as one file: who may have it, what is in it, and what breaks it off.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { beforeEach, expect, it } from "vitest";
import type { ExportFault } from "../../core/transfer/export-reader.ts";
import { login, make, outcome } from "../support/http/api-calls.ts";
import {
  apikey,
  bearer,
  project,
  withKey,
  withoutKey,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { applied, type Exported, readExported } from "../support/transfer/exported.ts";

const admin = apikey("admin");
const alice = apikey("alice");
const bob = apikey("bob");
const changes = { retentionSeconds: 3_600, maxEntries: 10_000 };
const logged = { schema: { properties: { n: { type: "integer" } } }, changes } as const;
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators", access: "Read" }),
  withKey("alice"),
  withKey("bob"),
  withUser("root", { role: "Administrators" }),
  withResource("books"),
  withResource("authors"),
  withResource("events", logged),
  withResource("secrets", { access: { read: "Nobody" } }),
  withResource("carts", { expiry: { field: { name: "until", path: ["until"] } } }),
  withRootKey("settings", { initialValue: '{"theme":"dark"}' }),
  withRootKey("flags", { changes }),
);

async function exported(served: Served, query = "", as = admin): Promise<Exported> {
  const reply = await served.send(`/export${query}`, { as });
  if (reply.status !== 200) throw new Error(reply.text);
  return readExported(reply.text);
}

const put = (served: Served, path: string, body: unknown) => served.send(path, { method: "PUT", body, as: alice });

/** Numbers, names and their order that a parser in between would change. */
const odd =
  '{"9":18446744073709551615,"1":-9223372036854775808,"__proto__":{"b":1,"a":-0.0},"\\"\\\\":"\\u0001\\n\u2028é😀","f":0.1,"":[[]]}';

describeServedOnBothStores("an export", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });

  it("has every object and value as it is stored, byte for byte", async () => {
    const json = { "content-type": "application/json" };
    const sent = { method: "POST", body: odd, headers: json, as: bob };
    const texts = [(await served.send("/api/books", sent)).text];
    texts.push((await served.send("/api/books", { ...sent, as: alice })).text);
    const author = await served.send("/api/authors", sent);
    await served.send("/json/flags", { method: "PUT", body: odd, headers: json, as: alice });
    const { head, items, end } = await exported(served);
    expect(head).toMatchObject({ resources: ["authors", "books", "carts", "events"], rootKeys: ["flags", "settings"] });
    expect(items).toEqual([
      { kind: "object", resource: "authors", text: author.text },
      ...texts.map((text) => ({ kind: "object", resource: "books", text })),
      { kind: "value", rootKey: "flags", text: odd },
    ]);
    expect(end.lines).toBe(4);
  });

  it("has what is named, or the objects of one owner", async () => {
    const book = await make(served, "books", { n: 1 }, alice);
    const other = await make(served, "books", { n: 2 }, bob);
    const author = await make(served, "authors", { n: 3 }, bob);
    await put(served, "/json/settings", { theme: "light" });
    const keysOf = async (query: string) => [...applied([await exported(served, query)]).keys()];
    expect(await keysOf("?_resource=books&_rootKey=settings")).toEqual([
      `books/${book.id}`,
      `books/${other.id}`,
      "settings",
    ]);
    expect(await keysOf("?_rootKey=settings")).toEqual(["settings"]);
    expect(await keysOf("?_owner=apikey:bob")).toEqual([`authors/${author.id}`, `books/${other.id}`]);
    expect(await keysOf(`?_resource=books&_after=books/${book.id}`)).toEqual([`books/${other.id}`]);
  });

  it("is for Administrators who may read, and of what they may read", async () => {
    expect(outcome(await served.send("/export"))).toEqual([401, "authentication_required"]);
    expect(outcome(await served.send("/export", { as: alice }))).toEqual([403, "insufficient_access"]);
    expect(outcome(await served.send("/export?_resource=secrets", { as: admin }))).toEqual([
      403,
      "insufficient_access",
    ]);
    const { access_token: token } = await login(served, "root");
    expect((await served.send("/export", { as: bearer(token) })).status).toBe(200);
    const head = await served.send("/export", { method: "HEAD", as: admin });
    expect(head).toMatchObject({ status: 200, text: "", headers: { "content-type": "application/x-ndjson" } });
    expect(outcome(await served.send("/export", { method: "POST", as: admin }))).toEqual([405, "method_not_allowed"]);
  });

  it.each([
    ["?_resource=nothing", "no ApiResource `nothing`"],
    ["?_rootKey=nothing", "no RootKey `nothing`"],
    ["?resource=books", "`resource` is unknown"],
    ["?_owner=alice", "`_owner` is"],
    ["?_owner=user:alice&_rootKey=flags", "`_owner` is about objects"],
    ["?_after=books/7", "`_after` is"],
    ["?_since=7", "`_since` must be a position"],
    ["?_since=json/flags=1-1.00000000", "no `changes` in its manifest"],
    ["?_rootKey=flags&_since=api/events=1-1.00000000", "says nothing of `json/flags`"],
    ["?_position=json/flags=1-1.00000000", "did you mean `_since`"],
  ])("refuses %s and says why", async (query, detail) => {
    const reply = await served.send(`/export${query}`, { as: admin });
    expect([...outcome(reply), reply.json().detail]).toEqual([
      400,
      "invalid_parameter",
      expect.stringContaining(detail),
    ]);
  });

  it("has no object that has expired", async () => {
    const end = new Date(Date.now() + 500).toISOString();
    await make(served, "carts", { until: end }, alice);
    const kept = await make(served, "carts", {}, alice);
    while (Date.now() <= Date.parse(end)) await new Promise((resume) => setTimeout(resume, 10));
    expect([...applied([await exported(served)]).keys()]).toEqual([`carts/${kept.id}`]);
  });

  it("is compressed where the client takes that", async () => {
    await make(served, "books", { n: 1 }, alice);
    const bytes = await collected(await opened(served, "/export", { "accept-encoding": "gzip" }));
    expect(readExported(gunzipSync(bytes)).items).toHaveLength(1);
  });

  it("since a position has what was written or deleted behind it, and nothing else", async () => {
    const query = "?_resource=events&_rootKey=flags";
    const [stays, goes] = [
      await make(served, "events", { n: 1 }, alice),
      await make(served, "events", { n: 2 }, alice),
    ];
    const whole = await exported(served, query);
    const since = (position = "") => exported(served, `${query}&_since=${encodeURIComponent(position)}`);
    expect((await since(whole.end.position)).items).toEqual([]);
    await served.send(`/api/events/${goes.id}`, { method: "DELETE", as: alice });
    const changed = await put(served, `/api/events/${stays.id}`, { n: 3 });
    await put(served, "/json/flags", { beta: true });
    const rest = await since(whole.end.position);
    expect(rest.items).toEqual([
      { kind: "changes" },
      { kind: "object", resource: "events", text: changed.text },
      { kind: "deleted", resource: "events", id: goes.id },
      { kind: "value", rootKey: "flags", text: '{"beta":true}' },
    ]);
    expect(rest.head.since).toBe(whole.end.position);
    expect((await since(rest.end.position)).items).toEqual([]);
  });

  it("has no position where something has no log, and refuses one that the log no longer has", async () => {
    await make(served, "events", { n: 1 }, alice);
    const { head, end } = await exported(served);
    expect([head.position, end.position]).toEqual([expect.stringMatching(/^api\/events=.+;json\/flags=/), undefined]);
    const reply = await served.send("/export?_resource=events&_since=api/events=1-1.00000000", { as: admin });
    expect(outcome(reply)).toEqual([410, "position_expired"]);
  });
});

const large = "x".repeat(900_000);
const objects = 24;

/** A response whose body waits until it is read. */
function opened(served: Served, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { headers: { authorization: admin, ...headers } };
    httpRequest(`${served.origin}${served.base}${path}`, options, resolve).on("error", reject).end();
  });
}

async function collected(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function faultOf(body: AsyncIterable<Buffer>): Promise<ExportFault> {
  try {
    readExported(await collected(body));
  } catch (error) {
    return error as ExportFault;
  }
  throw new Error("The export is complete");
}

describeServed("an export that takes long", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
    for (let n = 0; n < objects; n += 1) await make(served, "books", { n, large }, alice);
  });

  it("waits for its client, and ends with the reason when its caller may no longer read", async () => {
    const body = await opened(served, "/export");
    // Time to read everything, if nothing held it up.
    await new Promise((resume) => setTimeout(resume, 500));
    served.change(withoutKey("admin"));
    expect(await faultOf(body)).toMatchObject({ code: "invalid_credentials" });
  });

  it("ends with the reason when a resource is deleted", async () => {
    const body = await opened(served, "/export?_resource=books");
    served.change((parts) => ({
      ...parts,
      resources: new Map([...parts.resources].filter(([name]) => name !== "books")),
    }));
    expect(await faultOf(body)).toMatchObject({ code: "invalid_parameter", message: expect.stringContaining("books") });
  });
});
