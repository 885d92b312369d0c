// PATCH with a merge patch or a JSON Patch: of objects, and of values at any path of a root key.

import { beforeAll, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import type { Reply, SentRequest } from "../support/http/http-client.ts";
import { apikey, project, withKey, withLimits, withResource, withRootKey } from "../support/http/projects.ts";
import { describeReplicas, describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const merge = "application/merge-patch+json";
const operations = "application/json-patch+json";
const titled = {
  type: "object",
  properties: { title: { type: "string" }, pages: { type: "integer" } },
  required: ["title"],
} as const;
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withKey("reader", { access: "Read" }),
  withResource("books", { scope: { read: "All", write: "Own" } }),
  withResource("titled", { schema: titled }),
  withRootKey("doc", { initialValue: '{"a":{"b":[1,2]}}' }),
  withRootKey("box", { access: { create: "Anyone", read: "Nobody", update: "Anyone", delete: "Anyone" } }),
  withRootKey("fixed", {
    initialValue: '{"a":{}}',
    access: { create: "Nobody", read: "Anyone", update: "Authenticated", delete: "Nobody" },
  }),
);
const tagOf = (reply: Reply) => reply.headers.etag ?? "";

interface Sent {
  readonly as?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function patcher(served: () => Served) {
  const patch =
    (type: string) =>
    (path: string, body: unknown, { as = key, headers }: Sent = {}) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const sent: SentRequest = { method: "PATCH", body: text, as, headers: { "content-type": type, ...headers } };
      return served().send(path, sent);
    };
  return { mergeAt: patch(merge), operateAt: patch(operations) };
}

describeServed("patching an object", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const { mergeAt, operateAt } = patcher(() => served);
  const read = async (path: string) => served.send(path, { as: key });

  it("by a merge patch merges at every depth and removes what is null, and answers with the whole object and its tag", async () => {
    const made = await make(served, "books", { title: "Dune", at: { shelf: 1, row: 2 }, tags: ["a"], gone: 1 }, key);
    const path = `/api/books/${made.id}`;
    const reply = await mergeAt(path, { at: { row: null, box: 3 }, tags: ["b"], gone: null, none: null });
    const { gone, ...kept } = made;
    expect([reply.status, reply.json()]).toEqual([200, { ...kept, at: { shelf: 1, box: 3 }, tags: ["b"] }]);
    const now = await read(path);
    expect([now.text, tagOf(now)]).toEqual([reply.text, tagOf(reply)]);
    expect(gone).toBe(1);
  });

  it("by a JSON Patch carries out every kind of operation, in order", async () => {
    const made = await make(served, "books", { a: 1, "x/y": { "~": [1, 2] }, m: "moved" }, key);
    const reply = await operateAt(`/api/books/${made.id}`, [
      { op: "test", path: "/a", value: 1.0 },
      { op: "add", path: "/x~1y/~0/-", value: 3 },
      { op: "add", path: "/x~1y/~0/0", value: 0 },
      { op: "replace", path: "/a", value: null },
      { op: "copy", from: "/x~1y/~0", path: "/c" },
      { op: "move", from: "/m", path: "/x~1y/m" },
      { op: "remove", path: "/c/1" },
      { op: "test", path: "/_metadata/creator", value: "writer" },
    ]);
    expect(reply.json()).toEqual({
      id: made.id,
      a: null,
      "x/y": { "~": [0, 1, 2, 3], m: "moved" },
      c: [0, 2, 3],
      _metadata: made._metadata,
    });
    expect((await read(`/api/books/${made.id}`)).text).toBe(reply.text);
  });

  it("keeps numbers as they are, those that it sets and those that it does not name", async () => {
    const sent = '{"kept":[18446744073709551615,1.0],"n":0}';
    const made = (await served.send("/api/books", { method: "POST", body: sent, as: key })).json<{ id: string }>();
    const path = `/api/books/${made.id}`;
    expect((await mergeAt(path, '{"n":9007199254740993}')).text).toContain(
      '"kept":[18446744073709551615,1.0],"n":9007199254740993,',
    );
    const reply = await operateAt(
      path,
      '[{"op":"test","path":"/n","value":9007199254740993},{"op":"add","path":"/m","value":-9223372036854775808}]',
    );
    expect(reply.text).toContain('"n":9007199254740993,"m":-9223372036854775808,');
    const other = await operateAt(path, '[{"op":"test","path":"/n","value":9007199254740992}]');
    expect(outcome(other)).toEqual([409, "patch_conflict"]);
  });

  it("does all of its operations or none", async () => {
    const made = await make(served, "books", { a: 1 }, key);
    const path = `/api/books/${made.id}`;
    const before = await read(path);
    for (const last of [
      { op: "test", path: "/a", value: 3 },
      { op: "remove", path: "/none" },
      { op: "add", path: "/none/x", value: 1 },
      { op: "replace", path: "/a/b", value: 1 },
    ]) {
      const reply = await operateAt(path, [{ op: "replace", path: "/a", value: 2 }, last]);
      expect(outcome(reply)).toEqual([409, "patch_conflict"]);
      expect(reply.json<{ errors: { pointer: string }[] }>().errors[0]?.pointer).toMatch(/^\/1\//);
    }
    expect((await read(path)).text).toBe(before.text);
  });

  it("moves its entries in sorted and filtered lists", async () => {
    const made = await make(served, "titled", { title: "Dune", pages: 1 }, key);
    await operateAt(`/api/titled/${made.id}`, [{ op: "replace", path: "/pages", value: 7 }]);
    expect((await list(served, "titled?pages=7", key)).items.map(({ id }) => id)).toEqual([made.id]);
    expect((await list(served, "titled?pages=1", key)).count).toBe(0);
  });

  it("is refused when the result does not match the schema, is no object or nests too deeply", async () => {
    const made = await make(served, "titled", { title: "Dune" }, key);
    const path = `/api/titled/${made.id}`;
    const deep = `${"[".repeat(64)}${"]".repeat(64)}`;
    for (const [reply, refusal] of [
      [await mergeAt(path, { title: null }), [400, "validation_failed"]],
      [await mergeAt(path, { title: 1 }), [400, "validation_failed"]],
      [await operateAt(path, [{ op: "remove", path: "/title" }]), [400, "validation_failed"]],
      [await operateAt(path, [{ op: "replace", path: "", value: 1 }]), [400, "object_required"]],
      [await mergeAt(path, "[]"), [400, "object_required"]],
      [await mergeAt(path, "null"), [400, "object_required"]],
      [await operateAt(path, `[{"op":"add","path":"/x","value":${deep}}]`), [400, "too_deep"]],
      [await operateAt(path, [{ op: "remove", path: "" }]), [409, "patch_conflict"]],
      [await operateAt(path, {}), [400, "invalid_patch"]],
      [await operateAt(path, [{ op: "add", path: "title" }]), [400, "invalid_patch"]],
      [await mergeAt(path, '{"a":1,"a":2}'), [400, "duplicate_member"]],
      [await mergeAt(path, '{"a":18446744073709551616}'), [400, "number_out_of_range"]],
      [await mergeAt(path, ""), [400, "body_required"]],
    ] as const) {
      expect(outcome(reply)).toEqual(refusal);
    }
    expect((await read(path)).json()).toEqual(made);
    const deepest = `[{"op":"add","path":"/x","value":${deep.slice(1, -1)}}]`;
    expect((await operateAt(path, deepest)).status).toBe(200);
  });

  it("leaves id and _metadata alone, and the names of list parameters: 400 reserved_field", async () => {
    const made = await make(served, "books", { a: 1 }, key);
    const path = `/api/books/${made.id}`;
    for (const reply of [
      await mergeAt(path, { id: "x" }),
      await mergeAt(path, { id: null }),
      await mergeAt(path, { _metadata: { creator: "x" } }),
      await mergeAt(path, { _sort: 1 }),
      await operateAt(path, [{ op: "replace", path: "/id", value: "x" }]),
      await operateAt(path, [{ op: "remove", path: "/_metadata/creator" }]),
      await operateAt(path, [{ op: "add", path: "/_metadata/x", value: 1 }]),
      await operateAt(path, [{ op: "move", from: "/id", path: "/x" }]),
      await operateAt(path, [{ op: "copy", from: "/a", path: "/id" }]),
      await operateAt(path, [{ op: "add", path: "", value: { id: "x" } }]),
      await operateAt(path, [{ op: "add", path: "/_limit", value: 1 }]),
    ]) {
      expect(outcome(reply)).toEqual([400, "reserved_field"]);
    }
    expect((await mergeAt(path, { id: made.id, _metadata: made._metadata, b: 2 })).json()).toEqual({ ...made, b: 2 });
    const whole = await operateAt(path, [{ op: "replace", path: "", value: { c: 3 } }]);
    expect(whole.json()).toEqual({ id: made.id, c: 3, _metadata: made._metadata });
    expect((await operateAt(path, [{ op: "copy", from: "/_metadata/creator", path: "/by" }])).json().by).toBe("writer");
  });

  it("goes by If-Match, which it judges before the patch", async () => {
    const made = await make(served, "books", { n: 1 }, key);
    const path = `/api/books/${made.id}`;
    const headers = { "if-match": tagOf(await read(path)) };
    expect((await mergeAt(path, { n: 2 }, { headers })).status).toBe(200);
    expect(outcome(await mergeAt(path, { n: 3 }, { headers }))).toEqual([412, "precondition_failed"]);
    const failing = [{ op: "test", path: "/n", value: 9 }];
    expect(outcome(await operateAt(path, failing, { headers }))).toEqual([412, "precondition_failed"]);
    expect((await read(path)).json()).toEqual({ ...made, n: 2 });
  });

  it("needs what PUT needs: the object's owner, access Write, and an object", async () => {
    const made = await make(served, "books", { n: 1 }, key);
    const path = `/api/books/${made.id}`;
    expect(outcome(await mergeAt(path, { n: 2 }, { as: apikey("other") }))).toEqual([403, "insufficient_access"]);
    expect(outcome(await mergeAt(path, { n: 2 }, { as: apikey("reader") }))).toEqual([403, "insufficient_access"]);
    expect(outcome(await mergeAt("/api/books/none", {}))).toEqual([404, "not_found"]);
    expect((await read(path)).json()).toEqual(made);
  });
});

describeServed("patching bounds", (serve) => {
  const small = withLimits({ maxObjectBytes: 2_000, maxDocumentBytes: 2_000 });
  let served: Served;
  beforeAll(async () => {
    served = await serve(project("shop", withKey("writer"), withResource("books"), withRootKey("doc"), small));
  });
  const { mergeAt, operateAt } = patcher(() => served);

  it("refuse with 413 what grows past an object's or a root key's limit, and leave it as it was", async () => {
    const text = "x".repeat(900);
    const made = await make(served, "books", { text }, key);
    await served.send("/json/doc", { method: "PUT", body: { text }, as: key });
    const grow = [
      { op: "copy", from: "/text", path: "/more" },
      { op: "copy", from: "/text", path: "/most" },
    ];
    for (const path of [`/api/books/${made.id}`, "/json/doc"]) {
      expect(outcome(await operateAt(path, grow))).toEqual([413, "document_too_large"]);
      expect((await mergeAt(path, { more: text })).status).toBe(200);
      expect(outcome(await mergeAt(path, { most: text }))).toEqual([413, "document_too_large"]);
    }
  });

  it("let an object that is larger already become smaller", async () => {
    const roomy = await serve(project("shop", withKey("writer"), withResource("books")));
    const made = await make(roomy, "books", { text: "x".repeat(1_900), more: "y".repeat(1_900) }, key);
    roomy.change(withLimits({ maxObjectBytes: 1_024 }));
    const { mergeAt: merging } = patcher(() => roomy);
    expect((await merging(`/api/books/${made.id}`, { text: null })).status).toBe(200);
  });

  it("refuse more than 1,000 operations, and copies of copies, with 413", async () => {
    const roomy = await serve(project("shop", withKey("writer"), withResource("books"), withRootKey("doc")));
    const { operateAt: operate } = patcher(() => roomy);
    const many = (count: number, operation: unknown) => Array.from({ length: count }, () => operation);
    await roomy.send("/json/doc", { method: "PUT", body: "[1]", as: key });
    const more = await operate("/json/doc", many(1_001, { op: "test", path: "/0", value: 1 }));
    expect(outcome(more)).toEqual([413, "patch_too_large"]);
    const bomb = await operate("/json/doc", many(100, { op: "copy", from: "", path: "/-" }));
    expect(outcome(bomb)).toEqual([413, "patch_too_large"]);
    expect((await roomy.send("/json/doc", { as: key })).text).toBe("[1]");
  });
});

describeServed("patching a root key", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const { mergeAt, operateAt } = patcher(() => served);
  const put = (body: string) => served.send("/json/doc", { method: "PUT", body, as: key });
  const whole = async () => (await served.send("/json/doc", { as: key })).text;

  it("changes the value at the path, objects and arrays at any depth, and nothing beside it", async () => {
    await put('{"a":{"b":[1.0,{"c":1}],"k":18446744073709551615},"odd\\"":{"x":[1]},"z":0}');
    const element = await mergeAt("/json/doc/a/b/1", { c: 2, d: {} });
    expect([element.status, element.text]).toEqual([200, '{"c":2,"d":{}}']);
    const array = await operateAt("/json/doc/a/b", [
      { op: "add", path: "/0", value: "first" },
      { op: "move", from: "/2", path: "/0" },
    ]);
    expect([array.status, array.text]).toEqual([200, '[{"c":2,"d":{}},"first",1.0]']);
    expect((await operateAt("/json/doc/odd%22/x", [{ op: "add", path: "/-", value: 2 }])).text).toBe("[1,2]");
    expect((await mergeAt("/json/doc", { z: null })).status).toBe(200);
    expect(await whole()).toBe(
      '{"a":{"b":[{"c":2,"d":{}},"first",1.0],"k":18446744073709551615},"odd\\"":{"x":[1,2]}}',
    );
    expect(tagOf(await served.send("/json/doc/a/b", { as: key }))).toBe(tagOf(array));
  });

  it("replaces arrays and scalars by a merge patch, as RFC 7396 says", async () => {
    await put('{"l":[1,2],"s":"x","o":{"k":1}}');
    for (const [path, patch, text] of [
      ["/json/doc/l", "[3]", "[3]"],
      ["/json/doc/l", '{"a":1,"b":null}', '{"a":1}'],
      ["/json/doc/s", '{"a":{"b":null}}', '{"a":{}}'],
      ["/json/doc/o", "5", "5"],
      ["/json/doc/o", "null", "null"],
    ] as const) {
      const reply = await mergeAt(path, patch);
      expect([path, reply.status, reply.text]).toEqual([path, 200, text]);
    }
  });

  it("adds a missing key by a merge patch, with 201, and not by a JSON Patch, which needs a value", async () => {
    await put("{}");
    const added = await mergeAt("/json/doc/new", { a: null, b: 1 });
    expect([added.status, added.text]).toEqual([201, '{"b":1}']);
    expect(outcome(await operateAt("/json/doc/none", [{ op: "add", path: "", value: 1 }]))).toEqual([404, "not_found"]);
    expect(outcome(await mergeAt("/json/doc/none/k", {}))).toEqual([404, "parent_not_found"]);
    expect(outcome(await mergeAt("/json/doc/new/b/c", {}))).toEqual([409, "not_a_container"]);
    expect(await whole()).toBe('{"new":{"b":1}}');
  });

  it("starts from the initial value", async () => {
    const fresh = await serve(shop);
    const { operateAt: operate } = patcher(() => fresh);
    expect((await operate("/json/doc/a/b", [{ op: "remove", path: "/0" }])).text).toBe("[2]");
    expect((await fresh.send("/json/doc", { as: key })).text).toBe('{"a":{"b":[2]}}');
  });

  it("goes by If-Match", async () => {
    await put('{"n":1}');
    const headers = { "if-match": tagOf(await served.send("/json/doc/n", { as: key })) };
    expect((await mergeAt("/json/doc/n", "2", { headers })).status).toBe(200);
    expect(outcome(await mergeAt("/json/doc/n", "3", { headers }))).toEqual([412, "precondition_failed"]);
    const test = [{ op: "test", path: "", value: 9 }];
    expect(outcome(await operateAt("/json/doc/n", test, { headers }))).toEqual([412, "precondition_failed"]);
    expect(outcome(await mergeAt("/json/doc/none", "3", { headers }))).toEqual([412, "precondition_failed"]);
    expect(await whole()).toBe('{"n":2}');
  });

  it("is refused when the value would nest deeper than 64 levels", async () => {
    await put(`{"a":${"[".repeat(60)}1${"]".repeat(60)},"l":[]}`);
    const copy = [{ op: "copy", from: "/a", path: `/a${"/0".repeat(59)}/0` }];
    expect(outcome(await operateAt("/json/doc", copy))).toEqual([400, "too_deep"]);
    const deep = `${"[".repeat(64)}${"]".repeat(64)}`;
    expect(outcome(await operateAt("/json/doc/l", `[{"op":"add","path":"/-","value":${deep}}]`))).toEqual([
      400,
      "too_deep",
    ]);
  });

  it("needs update and read; a key that it adds at the path itself needs create, inside the value update is enough", async () => {
    expect(outcome(await mergeAt("/json/box", { pin: 1 }))).toEqual([403, "insufficient_access"]);
    expect(outcome(await operateAt("/json/box", []))).toEqual([403, "insufficient_access"]);
    const asAnonymous = await served.send("/json/doc", {
      method: "PATCH",
      body: "{}",
      headers: { "content-type": merge },
    });
    expect(outcome(asAnonymous)).toEqual([401, "authentication_required"]);
    expect(outcome(await mergeAt("/json/doc", {}, { as: apikey("reader") }))).toEqual([403, "insufficient_access"]);
    expect(outcome(await mergeAt("/json/fixed/new", {}))).toEqual([403, "insufficient_access"]);
    expect((await mergeAt("/json/fixed/a", { new: 1 })).text).toBe('{"new":1}');
    expect((await mergeAt("/json/fixed/a", { new: null })).text).toBe("{}");
  });
});

describeReplicas("patches at one time", (serveTwice) => {
  it("of one value, one object and an oddly named one on two replicas lose nothing: those that succeed are all there, and no other", async () => {
    const planes = await serveTwice(shop);
    await planes[0].send("/json/doc", { method: "PUT", body: '{"l":[],"o\\"":{}}', as: key });
    const made = await make(planes[0], "books", {}, key);
    const object = `/api/books/${made.id}`;
    const patch = (n: number, path: string, type: string, body: unknown) =>
      planes[n % 2 === 0 ? 0 : 1].send(path, {
        method: "PATCH",
        body: JSON.stringify(body),
        as: key,
        headers: { "content-type": type },
      });
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const replies = await Promise.all(
      numbers.flatMap((n) => [
        patch(n, "/json/doc/l", operations, [{ op: "add", path: "/-", value: n }]),
        patch(n, "/json/doc/o%22", merge, { [`k${n}`]: n }),
        patch(n, object, merge, { nested: { [`k${n}`]: n } }),
      ]),
    );
    // A busy machine may have some wait too long; they hear 503, and nothing of them is there.
    for (const { status } of replies) expect([200, 503]).toContain(status);
    const succeeded = (index: number) => numbers.filter((n) => replies[n * 3 + index]?.status === 200);
    const names = (index: number) => succeeded(index).map((n) => `k${n}`);
    const elements = (await planes[0].send("/json/doc/l", { as: key })).json<number[]>();
    expect(elements.toSorted((left, right) => left - right)).toEqual(succeeded(0));
    expect(elements.length).toBeGreaterThan(0);
    const oddlyNamed = (await planes[1].send("/json/doc/o%22", { as: key })).json();
    expect(Object.keys(oddlyNamed).toSorted()).toEqual(names(1).toSorted());
    const { nested } = (await planes[1].send(object, { as: key })).json<{ nested: object }>();
    expect(Object.keys(nested).toSorted()).toEqual(names(2).toSorted());
  });
});
