// What a refused write leaves behind where nothing was stored: nothing, so that the manifest's next
// initial value still counts.

import { expect, it } from "vitest";
import { outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withLimits, withRootKey } from "../support/http/projects.ts";
import { describeServedOnBothStores } from "../support/http/served.ts";

const first = '{"title":"first","list":[1]}';
const next = '{"title":"next"}';

interface RefusedWrite {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly refusal: readonly [number, string];
}

const refusedWrites: readonly RefusedWrite[] = [
  { method: "POST", path: "title", body: "1", refusal: [409, "key_exists"] },
  { method: "POST", path: "list/5", body: "1", refusal: [409, "index_out_of_range"] },
  { method: "POST", path: "more", body: `"${"m".repeat(80)}"`, refusal: [413, "document_too_large"] },
  { method: "PUT", path: "none/below", body: "1", refusal: [404, "parent_not_found"] },
  { method: "PUT", path: "", body: `"${"m".repeat(110)}"`, refusal: [413, "document_too_large"] },
  {
    method: "PUT",
    path: "title",
    body: "1",
    headers: { "if-match": '"other"' },
    refusal: [412, "precondition_failed"],
  },
  { method: "PATCH", path: "", body: "{}", headers: { "if-match": '"other"' }, refusal: [412, "precondition_failed"] },
  { method: "DELETE", path: "none", refusal: [404, "not_found"] },
  { method: "DELETE", path: "title", headers: { "if-none-match": "*" }, refusal: [412, "precondition_failed"] },
];

describeServedOnBothStores("a write where nothing is stored", (serve) => {
  it.each(refusedWrites)("$method of /$path that is refused with $refusal stores no initial value", async (write) => {
    const served = await serve(
      project(
        "shop",
        withKey("writer"),
        withLimits({ maxDocumentBytes: 100 }),
        withRootKey("doc", { initialValue: first }),
      ),
    );
    const { method, path, body, headers = {}, refusal } = write;
    const type = { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json" };
    const reply = await served.send(`/json/doc/${path}`, {
      method,
      as: apikey("writer"),
      headers: { ...type, ...headers },
      ...(body !== undefined && { body }),
    });
    expect(outcome(reply)).toEqual(refusal);
    expect((await served.send("/json/doc")).text).toBe(first);
    served.change(withRootKey("doc", { initialValue: next }));
    expect((await served.send("/json/doc")).text).toBe(next);
  });

  it("that is carried out stores the initial value with its change", async () => {
    const served = await serve(project("shop", withKey("writer"), withRootKey("doc", { initialValue: first })));
    const reply = await served.send("/json/doc/list/0", { method: "DELETE", as: apikey("writer") });
    expect(reply.status).toBe(200);
    served.change(withRootKey("doc", { initialValue: next }));
    expect((await served.send("/json/doc")).text).toBe('{"title":"first","list":[]}');
  });
});
