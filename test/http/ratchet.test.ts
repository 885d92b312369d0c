// Resources whose schema became stricter than what they store: what an update of an older object
// may keep, with `updates: Ratchet` and without.

import { expect, it } from "vitest";
import { outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed, type Serve, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const schema = {
  type: "object",
  properties: { stock: { type: "integer", minimum: 5 }, sold: { type: "integer" }, isbn: { type: "string" } },
  required: ["isbn"],
} as const;

/** An object that was stored before the schema. */
async function stored(serve: Serve, updates?: "Ratchet"): Promise<{ served: Served; path: string }> {
  const served = await serve(project("shop", withKey("writer"), withResource("books")));
  const body = { stock: 3, sold: 1 };
  const { id } = (await served.send("/api/books", { method: "POST", body, as: key })).json<{ id: string }>();
  served.change(withResource("books", { schema, ...(updates && { updates }) }));
  return { served, path: `/api/books/${id}` };
}

describeServed("an object that a newer schema refuses", (serve) => {
  const put = (served: Served, path: string, body: unknown) => served.send(path, { method: "PUT", body, as: key });
  const patch = (served: Served, path: string, operations: unknown) =>
    served.send(path, {
      method: "PATCH",
      body: JSON.stringify(operations),
      as: key,
      headers: { "content-type": "application/json-patch+json" },
    });

  it("takes no update that leaves a failure, unless its resource ratchets", async () => {
    const { served, path } = await stored(serve);
    expect(outcome(await put(served, path, { sold: 2 }))).toEqual([400, "validation_failed"]);
    expect((await put(served, path, { stock: 5, isbn: "1" })).status).toBe(200);
  });

  it("takes updates that leave its failures where they are, and add none", async () => {
    const { served, path } = await stored(serve, "Ratchet");
    expect((await put(served, path, { sold: 2 })).json()).toMatchObject({ stock: 3, sold: 2 });
    expect((await patch(served, path, [{ op: "increment", path: "/sold", by: 1 }])).json()).toMatchObject({ sold: 3 });
    for (const reply of [
      await put(served, path, { stock: 4 }),
      await patch(served, path, [{ op: "increment", path: "/stock", by: 1 }]),
      await put(served, path, { sold: "3" }),
      await put(served, path, { isbn: null }),
    ]) {
      expect(outcome(reply)).toEqual([400, "validation_failed"]);
    }
    expect((await patch(served, path, [{ op: "increment", path: "/stock", by: 2 }])).json()).toMatchObject({
      stock: 5,
    });
    expect((await put(served, path, { isbn: "1" })).status).toBe(200);
    // What is right once has to stay so.
    expect(outcome(await patch(served, path, [{ op: "remove", path: "/isbn" }]))).toEqual([400, "validation_failed"]);
  });

  it("can't be created", async () => {
    const { served } = await stored(serve, "Ratchet");
    const reply = await served.send("/api/books", { method: "POST", body: { sold: 1 }, as: key });
    expect(outcome(reply)).toEqual([400, "validation_failed"]);
  });
});
