// The content type of a PATCH says what its body is: a merge patch or a JSON Patch.

import { beforeAll, expect, it } from "vitest";
import { make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const merge = "application/merge-patch+json";
const acceptPatch = `${merge}, application/json-patch+json, application/json`;

describeServed("the content type of a PATCH", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(
      project("shop", withKey("writer"), withResource("books"), withRootKey("doc", { initialValue: '{"a":{}}' })),
    );
  });
  const read = (path: string) => served.send(path, { as: key });

  it("of another kind, or none, is 415 and says which ones there are", async () => {
    const made = await make(served, "books", { n: 1 }, key);
    for (const path of [`/api/books/${made.id}`, "/json/doc/a"]) {
      for (const type of ["text/plain", "application/x+json", "", undefined]) {
        const headers = type === undefined ? {} : { "content-type": type };
        const reply = await served.send(path, { method: "PATCH", body: "{}", as: key, headers });
        expect([type, ...outcome(reply)]).toEqual([type, 415, "unsupported_media_type"]);
        expect(reply.headers["accept-patch"]).toBe(acceptPatch);
      }
      const parameters = { "content-type": `${merge.toUpperCase()}; charset=utf-8` };
      expect((await served.send(path, { method: "PATCH", body: "{}", as: key, headers: parameters })).status).toBe(200);
    }
  });

  it("application/json means a merge patch, unless it is an array: that is a JSON Patch without its name, and 415", async () => {
    const made = await make(served, "books", { n: 1, tags: ["a"] }, key);
    for (const [path, expected] of [
      [`/api/books/${made.id}`, { n: 2, tags: ["a"] }],
      ["/json/doc/merged", { n: 2 }],
    ] as const) {
      const send = (body: unknown) =>
        served.send(path, { method: "PATCH", body, as: key, headers: { "content-type": "application/json" } });
      const before = (await send({ n: 2, gone: null })).json<object>();
      expect(before).toMatchObject(expected);
      const reply = await send([{ op: "replace", path: "/n", value: 3 }]);
      expect(outcome(reply)).toEqual([415, "unsupported_media_type"]);
      expect(reply.json()).toMatchObject({ detail: expect.stringContaining("application/json-patch+json") });
      expect(reply.headers["accept-patch"]).toBe(acceptPatch);
      expect((await read(path)).json()).toEqual(before);
    }
  });

  it("is announced by OPTIONS where there is something to patch", async () => {
    for (const [path, announced] of [
      ["/api/books/some-id", acceptPatch],
      ["/json/doc", acceptPatch],
      ["/json/doc/a", acceptPatch],
      ["/api/books", undefined],
    ] as const) {
      const reply = await served.send(path, { method: "OPTIONS" });
      expect([path, reply.headers["accept-patch"]]).toEqual([path, announced]);
    }
  });
});
