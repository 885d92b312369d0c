// What reading one object answers, and what is not found.

import { beforeAll, expect, it } from "vitest";
import { make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const shop = project("shop", withKey("writer"), withResource("books"), withResource("films"));

describeServedOnBothStores("reading an object", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });

  it("answers 200 with the object, its id and its _metadata", async () => {
    const made = await make(served, "books", { title: "Dune" }, key);
    const reply = await served.send(`/api/books/${made.id}`, { as: key });
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual(made);
  });

  it("ignores a trailing slash, and a body with a JSON content type", async () => {
    const made = await make(served, "books", {}, key);
    const path = `/api/books/${made.id}`;
    expect((await served.send(`${path}/`, { as: key })).json()).toEqual(made);
    expect((await served.send(path, { as: key, headers: { "content-type": "application/json" } })).json()).toEqual(
      made,
    );
    expect((await served.send(path, { as: key, body: { a: 1 } })).json()).toEqual(made);
  });

  it("answers HEAD with the same headers and no body", async () => {
    const made = await make(served, "books", { title: "Emma" }, key);
    const path = `/api/books/${made.id}`;
    const [get, head] = [await served.send(path, { as: key }), await served.send(path, { method: "HEAD", as: key })];
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
    expect(head.headers["content-type"]).toBe("application/json");
  });

  it.each([
    ["an id of nothing", "0190a000-0000-7000-8000-000000000000"],
    ["a text that can't be an id", "1"],
    ["an id in upper case", "0190A000-0000-7000-8000-00000000000A"],
    ["an inherited member", "constructor"],
    ["a path of the store", "*"],
    ["quotes and brackets", "%22%5D%5B%22"],
    ["a line break", "a%0d%0aSet-Cookie:%20a=b"],
    ["letters beyond ASCII", "%F0%9F%98%80"],
    ["1,000 characters", "x".repeat(1000)],
  ])("answers 404 to %s", async (_what, id) => {
    expect(outcome(await served.send(`/api/books/${id}`, { as: key }))).toEqual([404, "not_found"]);
    expect(outcome(await served.send(`/api/books/${id}`, { method: "PUT", body: { a: 1 }, as: key }))).toEqual([
      404,
      "not_found",
    ]);
    expect(outcome(await served.send(`/api/books/${id}`, { method: "DELETE", as: key }))).toEqual([404, "not_found"]);
  });

  it("answers 404 to an id of another resource", async () => {
    const { id } = await make(served, "films", {}, key);
    expect(outcome(await served.send(`/api/books/${id}`, { as: key }))).toEqual([404, "not_found"]);
  });

  it("answers 404 to an id of another project, and of a project of the same name in another namespace", async () => {
    const { id } = await make(served, "books", {}, key);
    const elsewhere = await serve([project("cinema", withKey("writer"), withResource("books")), shop]);
    expect(outcome(await elsewhere.send(`/api/books/${id}`, { as: key }))).toEqual([404, "not_found"]);
  });
});

describeReplicas("reading", (serveTwice) => {
  it("shows on one replica at once what the other has acknowledged", async () => {
    const [one, other] = await serveTwice(shop);
    for (let round = 0; round < 20; round += 1) {
      const made = await make(one, "books", { round }, key);
      const path = `/api/books/${made.id}`;
      expect((await other.send(path, { as: key })).json()).toEqual(made);
      const changed = await other.send(path, { method: "PUT", body: { round: -round }, as: key });
      expect((await one.send(path, { as: key })).text).toBe(changed.text);
      await one.send(path, { method: "DELETE", as: key });
      expect((await other.send(path, { as: key })).status).toBe(404);
    }
  });
});
