// Resources with `defaults: Apply`: what a POST fills in, and what answers to it again.

import { beforeAll, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withLimits, withResource } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const line = { type: "object", properties: { count: { type: "integer", default: 1 } }, required: ["count"] } as const;
const schemaWith = (status: string) =>
  ({
    type: "object",
    properties: {
      status: { type: "string", default: status },
      lines: { type: "array", items: line },
      at: { type: "object", default: {}, properties: { country: { type: "string", default: "AT" } } },
    },
    required: ["status"],
  }) as const;
const shop = project(
  "shop",
  withKey("writer"),
  withResource("orders", { schema: schemaWith("new"), defaults: "Apply" }),
  withResource("described", { schema: schemaWith("new") }),
);

describeServed("defaults that are applied", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    served.send(path, { method: "POST", body, as: key, headers });

  it("are in a created object, in its answer, in lists and in their filters, and what was sent stays as it was", async () => {
    const reply = await post("/api/orders", '{"n":18446744073709551615,"lines":[{"x":1.0},{"count":2}]}');
    const filled =
      '"n":18446744073709551615,"lines":[{"x":1.0,"count":1},{"count":2}],"status":"new","at":{"country":"AT"},';
    expect([reply.status, reply.text]).toEqual([201, expect.stringContaining(filled)]);
    const { id } = reply.json<{ id: string }>();
    expect((await served.send(`/api/orders/${id}`, { as: key })).text).toBe(reply.text);
    expect((await list(served, "orders?status=new&at.country=AT", key)).items.map((item) => item.id)).toContain(id);
  });

  it("come before validation, and only in new objects: an update fills in nothing", async () => {
    expect(outcome(await post("/api/described", "{}"))).toEqual([400, "validation_failed"]);
    const made = await make(served, "orders", {}, key);
    const path = `/api/orders/${made.id}`;
    const put = await served.send(path, { method: "PUT", body: { at: {} }, as: key });
    expect(put.json()).toEqual({ ...made, at: {} });
    const lines = { method: "PUT", body: { lines: [{}] }, as: key } as const;
    expect(outcome(await served.send(path, lines))).toEqual([400, "validation_failed"]);
    expect(outcome(await post("/api/orders", '{"status":null}'))).toEqual([400, "validation_failed"]);
  });

  it("are those of the first time in a repeated POST, whatever the schema says by now", async () => {
    const other = await serve(shop);
    const sent = { method: "POST", body: '{"lines":[{}]}', as: key, headers: { "idempotency-key": "k1" } } as const;
    const first = await other.send("/api/orders", sent);
    other.change(withResource("orders", { schema: schemaWith("open"), defaults: "Apply" }));
    const again = await other.send("/api/orders", sent);
    expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([201, first.text, "true"]);
    expect(first.json()).toMatchObject({ status: "new", lines: [{ count: 1 }] });
    expect((await other.send("/api/orders", { ...sent, headers: {} })).json()).toMatchObject({ status: "open" });
    other.change(withResource("orders", { schema: schemaWith("open") }));
    expect((await other.send("/api/orders", sent)).text).toBe(first.text);
  });

  it("are those of now in a repeated POST where they are too many to record", async () => {
    const other = await serve(shop);
    const body = JSON.stringify({ lines: Array(1_000).fill({}) });
    const sent = { method: "POST", body, as: key, headers: { "idempotency-key": "k1" } } as const;
    const first = await other.send("/api/orders", sent);
    expect(first.status).toBe(201);
    expect((await other.send("/api/orders", sent)).text).toBe(first.text);
    other.change(withResource("orders", { schema: schemaWith("open"), defaults: "Apply" }));
    const again = (await other.send("/api/orders", sent)).json<{ id: string; lines: unknown[] }>();
    expect(again).toEqual({ ...first.json<object>(), status: "open" });
  });

  it("count for the size and the depth of an object", async () => {
    const small = await serve([
      project(
        "shop",
        withKey("writer"),
        withLimits({ maxObjectBytes: 1_024 }),
        withResource("orders", { schema: schemaWith("new"), defaults: "Apply" }),
      ),
    ]);
    const lines = (count: number) => ({ lines: Array(count).fill({}) });
    const send = (body: unknown) => small.send("/api/orders", { method: "POST", body, as: key });
    expect((await send(lines(60))).status).toBe(201);
    expect(outcome(await send(lines(100)))).toEqual([413, "document_too_large"]);
    expect(outcome(await send(lines(300)))).toEqual([413, "document_too_large"]);
  });

  it("are optional in the description of what is sent, and required members are there in what is read", async () => {
    const document = (await served.send("/openapi.json", { as: key })).json<{
      components: { schemas: Record<string, { required?: string[]; properties: Record<string, object> }> };
    }>();
    const { schemas } = document.components;
    const requiredOf = (name: string) => schemas[name]?.required ?? [];
    expect([requiredOf("orders"), requiredOf("orders.stored")]).toEqual([[], ["id", "status", "_metadata"]]);
    expect(schemas["orders"]?.properties).not.toHaveProperty("lines.items.required");
    expect(schemas["orders.stored"]?.properties).toMatchObject({
      lines: { items: { required: ["count"] } },
      status: { description: 'Default: `"new"`, filled in where a new object lacks it.' },
    });
    expect([requiredOf("described"), requiredOf("described.stored")]).toEqual([
      ["status"],
      ["id", "status", "_metadata"],
    ]);
  });
});
