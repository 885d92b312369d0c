// How large a stored object may become: one limit for POST, PUT and PATCH, which holds for what is
// stored afterwards and not for what one request sends.

import { expect, it } from "vitest";
import { make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withLimits, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const mebibyte = 1 << 20;
const merge = { "content-type": "application/merge-patch+json" };

const notes = project("p", withKey("writer"), withResource("notes"));
/** Objects of four fields of about a thousand bytes; a body has one of them. */
const small = withLimits({ maxBodyBytes: 1_100, maxObjectBytes: 4_200 });

/** A member of 1,000 bytes with its name. */
function field(name: string): Record<string, string> {
  return { [name]: "x".repeat(1_000 - name.length) };
}

/** Bytes of the object's own fields as they are stored. */
function dataBytes(text: string): number {
  const { id: _id, _metadata, ...data } = JSON.parse(text) as Record<string, unknown>;
  return Buffer.byteLength(JSON.stringify(data));
}

describeServed("the size of an object", (serve) => {
  const put = (served: Served, id: string, body: unknown) =>
    served.send(`/api/notes/${id}`, { method: "PUT", body, as: key });
  const read = async (served: Served, id: string) => (await served.send(`/api/notes/${id}`, { as: key })).text;

  it("is bounded by 1 MiB unless the project says otherwise, however it is reached by PUTs", async () => {
    const served = await serve(notes);
    const { id } = await make(served, "notes", { a: "x".repeat(600_000) }, key);
    const before = await read(served, id);
    const reply = await put(served, id, { b: "x".repeat(600_000) });
    expect(outcome(reply)).toEqual([413, "document_too_large"]);
    expect(reply.json().detail).toContain(`${mebibyte} bytes (spec.limits.maxObjectBytes of the Project)`);
    expect(await read(served, id)).toBe(before);
    expect((await put(served, id, { a: "y".repeat(900_000) })).status).toBe(200);
  });

  it("may be more than a body has: PUTs and patches fill it up to the limit, and not beyond", async () => {
    const served = await serve(project("p", withKey("writer"), withResource("notes"), small));
    const { id } = await make(served, "notes", field("a"), key);
    expect((await put(served, id, field("b"))).status).toBe(200);
    const patched = await served.send(`/api/notes/${id}`, {
      method: "PATCH",
      headers: merge,
      body: field("c"),
      as: key,
    });
    expect(patched.status).toBe(200);
    expect((await put(served, id, field("d"))).status).toBe(200);
    expect(outcome(await put(served, id, field("e")))).toEqual([413, "document_too_large"]);
    const refused = await served.send(`/api/notes/${id}`, {
      method: "PATCH",
      headers: merge,
      body: field("e"),
      as: key,
    });
    expect(outcome(refused)).toEqual([413, "document_too_large"]);
    expect(dataBytes(await read(served, id))).toBeLessThanOrEqual(4_200);
  });

  it("is counted as it is stored: a new object whose numbers are stored in a longer form is refused as well", async () => {
    const served = await serve(
      project("p", withKey("writer"), withResource("notes"), withLimits({ maxObjectBytes: 2_000 })),
    );
    const short = `{"n":[${Array.from({ length: 300 }, () => "1e15").join(",")}]}`;
    expect(short.length).toBeLessThan(2_000);
    const reply = await served.send("/api/notes", { method: "POST", body: short, as: key });
    expect(outcome(reply)).toEqual([413, "document_too_large"]);
    expect((await served.send("/api/notes?_limit=1", { as: key })).json()).toMatchObject({ count: 0 });
  });

  it("above a limit that was lowered later is still read, and may shrink and change, but not grow", async () => {
    const served = await serve(notes);
    const { id } = await make(served, "notes", { ...field("a"), ...field("b") }, key);
    served.change(withLimits({ maxObjectBytes: 1_024 }));
    expect(dataBytes(await read(served, id))).toBeGreaterThan(2_000);
    expect(outcome(await put(served, id, { more: 1 }))).toEqual([413, "document_too_large"]);
    expect((await put(served, id, { a: "y".repeat(999) })).status).toBe(200);
    expect((await put(served, id, { a: "", b: "" })).status).toBe(200);
    expect(outcome(await put(served, id, { ...field("a"), ...field("b") }))).toEqual([413, "document_too_large"]);
  });
});

describeReplicas("the size of an object", (serveTwice) => {
  it("is held under updates of several fields at one time", async () => {
    const replicas = await serveTwice(project("p", withKey("writer"), withResource("notes"), small));
    const [one] = replicas;
    const { id } = await make(one, "notes", field("start"), key);
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        (replicas[at % 2] ?? one).send(`/api/notes/${id}`, { method: "PUT", body: field(`f${at}`), as: key }),
      ),
    );
    const codes = replies.map(({ status, code }) => code ?? status);
    expect(codes.filter((code) => code === 200)).toHaveLength(3);
    expect(codes.filter((code) => code === "document_too_large")).toHaveLength(9);
    expect(dataBytes((await one.send(`/api/notes/${id}`, { as: key })).text)).toBeLessThanOrEqual(4_200);
  });
});
