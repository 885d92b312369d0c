// Clients that follow changes: what they are sent, in which order, from where, and until when.

import { afterEach, beforeEach, expect, it } from "vitest";
import { login, make, outcome } from "../support/http/api-calls.ts";
import { closeStreams, follow } from "../support/http/event-stream.ts";
import { apikey, bearer, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const changes = { retentionSeconds: 3600, maxEntries: 1_000 };
const alice = apikey("alice");
const bob = apikey("bob");
const shop = project(
  "shop",
  withKey("alice"),
  withKey("bob"),
  withUser("ann"),
  withResource("books", {
    schema: { properties: { title: { type: "string" }, status: { type: "string" } } },
    scope: { read: "All", write: "All" },
    changes,
  }),
  withResource("drafts", { changes }),
  withResource("quiet"),
  withRootKey("settings", { initialValue: '{"theme":{"colour":"red"},"beta":false}', changes }),
);

afterEach(closeStreams);

describeServedOnBothStores("a stream of changes", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });
  const put = (path: string, body: unknown, as = alice) => served.send(path, { method: "PUT", body, as });
  const remove = (path: string, as = alice) => served.send(path, { method: "DELETE", as });

  it("sends each write of a collection, in order, with the object and its tag", async () => {
    const stream = await follow(served, "/api/books", { as: alice });
    expect(stream.headers).toMatchObject({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
    expect(stream.headers["cache-control"]).toBe("no-store, no-transform");
    const { id } = await make(served, "books", { title: "Dune" }, alice);
    await stream.changes(1);
    const written = await put(`/api/books/${id}`, { title: "Emma" });
    await stream.changes(2);
    await remove(`/api/books/${id}`);
    expect(await stream.changes(3)).toMatchObject([
      { event: "put", data: { resource: "books", id, object: { id, title: "Dune" } } },
      { event: "put", data: { resource: "books", id, etag: written.headers["etag"], object: { title: "Emma" } } },
      { event: "delete", data: { resource: "books", id } },
    ]);
  });

  it("sends nothing of a write that changes nothing, and one object once per burst", async () => {
    const { id } = await make(served, "books", { title: "Dune" }, alice);
    const stream = await follow(served, "/api/books", { as: alice });
    await put(`/api/books/${id}`, { title: "Dune" });
    await put(`/api/books/${id}`, { title: "Emma" });
    const { id: other } = await make(served, "books", { title: "Persuasion" }, alice);
    await stream.changes(2);
    expect(
      stream
        .events()
        .filter(({ event }) => event === "put")
        .map(({ data }) => data["id"]),
    ).toEqual([id, other]);
  });

  it("begins behind the position of a list, or behind the last event that was seen", async () => {
    const listed = await served.send("/api/books", { as: alice });
    const position = String(listed.headers["changes-position"]);
    const { id: first } = await make(served, "books", { title: "first" }, alice);
    const stream = await follow(served, `/api/books?_position=${encodeURIComponent(position)}`, { as: alice });
    const [event] = await stream.changes(1);
    expect(event).toMatchObject({ event: "put", data: { id: first } });
    stream.close();
    const { id: second } = await make(served, "books", { title: "second" }, alice);
    const resumed = await follow(served, "/api/books", { as: alice, headers: { "last-event-id": String(event?.id) } });
    expect(await resumed.changes(1)).toMatchObject([{ event: "put", data: { id: second } }]);
  });

  it("is reset behind a list of several pages, of which a failover lost what an earlier one had seen", async () => {
    for (const title of ["first", "second", "third"]) await make(served, "books", { title }, alice);
    const page = await served.send("/api/books?_limit=1&_cursor=", { as: alice });
    await make(served, "books", { title: "meanwhile" }, alice);
    const [, cursor = ""] = /_cursor=([\w-]+)/.exec(page.text) ?? [];
    const text = Buffer.from(cursor, "base64url").toString();
    const position = text.slice(text.lastIndexOf("\0") + 1);
    const lost = Buffer.from(`${text},${position.replace(/\w{8}$/, "00000000")}`).toString("base64url");
    for (const [from, event] of Object.entries({
      [cursor]: { event: "put", data: { object: { title: "meanwhile" } } },
      [lost]: { event: "reset", data: { reason: "lost" } },
    })) {
      const last = await served.send(`/api/books?_limit=10&_cursor=${from}`, { as: alice });
      const behind = encodeURIComponent(String(last.headers["changes-position"]));
      const stream = await follow(served, `/api/books?_position=${behind}`, { as: alice });
      expect(await stream.changes(1)).toMatchObject([event]);
    }
  });

  it("begins behind no page that follows one which was read before there was a log", async () => {
    for (const title of ["first", "second"]) await make(served, "books", { title }, alice);
    const page = await served.send("/api/books?_limit=1&_cursor=", { as: alice });
    const [, cursor = ""] = /_cursor=([\w-]+)/.exec(page.text) ?? [];
    const text = Buffer.from(cursor, "base64url").toString();
    const former = Buffer.from(text.slice(0, text.lastIndexOf("\0"))).toString("base64url");
    const last = await served.send(`/api/books?_limit=1&_cursor=${former}`, { as: alice });
    expect([last.status, last.headers["changes-position"]]).toEqual([200, undefined]);
  });

  it("sends objects that the filters find, and one that stops matching as deleted", async () => {
    const headers = { accept: "Text/Event-Stream" };
    const stream = await follow(served, "/api/books?status=open&_fields=title", { as: alice, headers });
    const { id } = await make(served, "books", { title: "Dune", status: "open" }, alice);
    const [event] = await stream.changes(1);
    expect(event?.data["object"]).toEqual({ id, title: "Dune" });
    await put(`/api/books/${id}`, { status: "closed" });
    expect(await stream.changes(2)).toMatchObject([{ event: "put" }, { event: "delete", data: { id } }]);
  });

  it("never leaves the caller's scope", async () => {
    const stream = await follow(served, "/api/drafts", { as: alice });
    const { id: hidden } = await make(served, "drafts", { text: "bob's" }, bob);
    await put(`/api/drafts/${hidden}`, { text: "bob's own" }, bob);
    await remove(`/api/drafts/${hidden}`, bob);
    const { id } = await make(served, "drafts", { text: "alice's" }, alice);
    expect(await stream.changes(1)).toMatchObject([{ event: "put", data: { id } }]);
    expect(stream.text()).not.toContain(hidden);
  });

  it("of one object begins with it, and answers 404 where there is none", async () => {
    const { id } = await make(served, "books", { title: "Dune" }, alice);
    const stream = await follow(served, `/api/books/${id}`, { as: alice });
    await make(served, "books", { title: "another" }, alice);
    await remove(`/api/books/${id}`);
    expect(await stream.changes(2)).toMatchObject([
      { event: "put", data: { id, object: { title: "Dune" } } },
      { event: "delete", data: { id } },
    ]);
    expect((await follow(served, `/api/books/${id}`, { as: alice })).status).toBe(404);
    const resumed = await follow(served, `/api/books/${id}?_position=${stream.position()}`, { as: alice });
    expect(await resumed.changes(1)).toMatchObject([{ event: "delete", data: { id } }]);
  });

  it("of one object that goes on from an older position sends nothing older than it began with", async () => {
    const { id } = await make(served, "books", { title: "first" }, alice);
    // While somebody follows the collection, the replica keeps what it read of each change.
    const collection = await follow(served, "/api/books", { as: alice });
    const position = collection.position();
    for (const [at, title] of ["second", "third"].entries()) {
      await put(`/api/books/${id}`, { title });
      await collection.changes(at + 1);
    }
    const stream = await follow(served, `/api/books/${id}?_position=${position}`, { as: alice });
    await put(`/api/books/${id}`, { title: "fourth" });
    await collection.changes(3);
    const { id: other } = await make(served, "books", { title: "another" }, alice);
    await collection.changes(4);
    await remove(`/api/books/${id}`);
    await eventually(() => expect(stream.events().at(-1)).toMatchObject({ event: "delete", data: { id } }));
    const titles = stream.events().map(({ data }) => (data["object"] as { readonly title: string } | undefined)?.title);
    expect(titles).toEqual(["third", "fourth", undefined]);
    expect(stream.text()).not.toContain(other);
  });

  it("of a path of a root key begins with its value, and sends it when it differs", async () => {
    const stream = await follow(served, "/json/settings/theme/colour", { as: alice });
    await put("/json/settings/beta", true);
    await put("/json/settings/theme/colour", '"blue"');
    await stream.changes(2);
    await remove("/json/settings/theme");
    expect(await stream.changes(3)).toMatchObject([
      { event: "put", data: { rootKey: "settings", path: ["theme", "colour"], value: "red" } },
      { event: "put", data: { value: "blue" } },
      { event: "delete", data: { rootKey: "settings", path: ["theme", "colour"] } },
    ]);
  });

  it("is reset where its position is not in the log, so that the client lists again", async () => {
    for (const position of ["1-1.00000000", "9999999999999-0.00000000"]) {
      const stream = await follow(served, "/api/books", { as: alice, headers: { "last-event-id": position } });
      expect(stream.status).toBe(200);
      expect(await stream.ended()).toMatchObject([{ event: "reset", id: "" }]);
    }
  });

  it("ends with a reset when the caller's key is revoked, or reaches less", async () => {
    const revoked = await follow(served, "/api/books", { as: bob });
    const other = await follow(served, "/api/books", { as: alice });
    served.change((parts) => ({ ...parts, keys: new Map([...parts.keys].filter(([, { name }]) => name !== "bob")) }));
    expect(await revoked.ended()).toMatchObject([
      { event: "bookmark" },
      { event: "reset", data: { reason: "access" } },
    ]);
    const { id } = await make(served, "books", { title: "still sent" }, alice);
    expect(await other.changes(1)).toMatchObject([{ event: "put", data: { id } }]);
    served.change(withResource("books", { scope: { read: "Own", write: "Own" }, changes }));
    expect((await other.ended()).at(-1)).toMatchObject({ event: "reset", data: { reason: "access" } });
  });

  it("ends with a reset when the caller's session ends", async () => {
    const { access_token, session_id } = await login(served, "ann");
    const as = bearer(access_token);
    const stream = await follow(served, "/api/books", { as });
    await served.send(`/sessions/${session_id}`, { method: "DELETE", as });
    expect((await stream.ended()).at(-1)).toMatchObject({ event: "reset", data: { reason: "access" } });
  });

  it("is refused where no changes are logged, to who may not read, and for parameters of lists", async () => {
    const refused = async (path: string, as?: string) => {
      const stream = await follow(served, path, as === undefined ? {} : { as });
      await stream.ended();
      return [stream.status, JSON.parse(stream.text()).code];
    };
    expect(await refused("/api/quiet", alice)).toEqual([406, "not_acceptable"]);
    expect(await refused("/api/books")).toEqual([401, "authentication_required"]);
    expect(await refused("/api/books?_sort=title", alice)).toEqual([400, "invalid_parameter"]);
    expect(await refused("/api/books?_position=here", alice)).toEqual([400, "invalid_parameter"]);
  });

  it("ends when the replica stops, and says when to connect again", async () => {
    const stream = await follow(served, "/api/books", { as: alice });
    void served.plane.close();
    await stream.ended();
    expect(stream.retry()).toBeGreaterThanOrEqual(1_000);
  });
});

describeServedOnBothStores("changes of several sources over one connection", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });
  const watch = ["api/books?status=open", "json/settings/beta"]
    .map((each) => `_watch=${encodeURIComponent(each)}`)
    .join("&");

  it("come with positions of all, from which the stream goes on", async () => {
    const stream = await follow(served, `/changes?${watch}`, { as: alice });
    const { id } = await make(served, "books", { title: "Dune", status: "open" }, alice);
    await served.send("/json/settings/beta", { method: "PUT", body: true, as: alice });
    const sent = await stream.changes(3);
    expect(sent.map(({ data }) => data["id"] ?? data["value"]).sort()).toEqual([false, id, true].sort());
    stream.close();
    const { id: next } = await make(served, "books", { title: "Emma", status: "open" }, alice);
    const headers = { "last-event-id": stream.position() };
    const resumed = await follow(served, `/changes?${watch}`, { as: alice, headers });
    expect((await resumed.changes(2)).map(({ data }) => data["id"] ?? data["value"])).toEqual([true, next]);
  });

  it("come as JSON from whichever changes first", async () => {
    const now = await served.send(`/changes?${watch}`, { as: alice });
    const path = `/changes?${watch}&_position=${encodeURIComponent(String(now.json()["position"]))}`;
    const waiting = served.send(path, { as: alice, headers: { prefer: "wait=20" } });
    const { id } = await make(served, "books", { title: "Dune", status: "open" }, alice);
    expect((await waiting).json()).toMatchObject({ changes: [{ event: "put", data: { id } }] });
  });

  it("are refused where what is stored of them is larger than a stream may begin with", async () => {
    const text = "x".repeat(900_000);
    await served.send("/json/settings", { method: "PUT", body: { text }, as: alice });
    const sources = (count: number) => `/changes?${Array(count).fill("_watch=json%2Fsettings").join("&")}`;
    expect((await follow(served, sources(4), { as: alice })).status).toBe(200);
    expect(outcome(await served.send(sources(5), { as: alice, headers: { accept: "text/event-stream" } }))).toEqual([
      400,
      "query_too_expensive",
    ]);
  });

  it("are refused where one of them is, and with a position of others", async () => {
    const refused = async (query: string, as = alice) => outcome(await served.send(`/changes?${query}`, { as }));
    expect(await refused(`${watch}&_watch=api%2Fquiet`)).toEqual([406, "not_acceptable"]);
    expect(await refused(`${watch}&_watch=api%2Fnothing`)).toEqual([404, "unknown_resource"]);
    expect(await refused("_watch=sessions")).toEqual([400, "invalid_parameter"]);
    expect(await refused("")).toEqual([400, "invalid_parameter"]);
    expect(await refused(`${watch}&_position=1-1.00000000`)).toEqual([400, "invalid_parameter"]);
  });
});

describeServedOnBothStores("changes as JSON", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
  });
  const changesBehind = (position: unknown, headers = {}) =>
    served.send(`/api/books?_position=${encodeURIComponent(String(position))}`, { as: alice, headers });

  it("has what changed behind a position, and waits for it as Prefer asks", async () => {
    const { headers } = await served.send("/api/books", { as: alice });
    const none = await changesBehind(headers["changes-position"]);
    expect(none.json()).toMatchObject({ changes: [] });
    const waiting = changesBehind(none.json()["position"], { prefer: "wait=20" });
    const { id } = await make(served, "books", { title: "Dune" }, alice);
    const reply = await waiting;
    expect(reply.json()).toMatchObject({ changes: [{ event: "put", data: { id, object: { title: "Dune" } } }] });
    expect(reply.headers["preference-applied"]).toBe("wait=20");
  });

  it("says that a value is gone", async () => {
    const { headers } = await served.send("/json/settings", { as: alice });
    await served.send("/json/settings/theme", { method: "DELETE", as: alice });
    const position = encodeURIComponent(String(headers["changes-position"]));
    const reply = await served.send(`/json/settings/theme/colour?_position=${position}`, { as: alice });
    expect(reply.json()).toMatchObject({
      changes: [{ event: "delete", data: { rootKey: "settings", path: ["theme", "colour"] } }],
    });
  });

  it("answers 410 where the position is not in the log", async () => {
    expect(outcome(await changesBehind("1-1.00000000"))).toEqual([410, "position_expired"]);
    expect(outcome(await served.send("/api/quiet?_position=", { as: alice }))).toEqual([406, "not_acceptable"]);
    expect(outcome(await served.send("/api/books?%5fposition=1-1.00000000", { as: alice }))).toEqual([
      410,
      "position_expired",
    ]);
  });
});
