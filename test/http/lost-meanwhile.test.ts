// Data that are lost while a request is carried out: what its calls of the store were answered with
// counts no more.

import { expect, it } from "vitest";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const shop = project("shop", withKey("admin", { role: "Administrators" }), withResource("books"), withRootKey("flags"));
const as = apikey("admin");

/** From the next of these calls on, once it was answered. */
function losesData({ live, store }: Served, call: "read" | "create" | "pageByCreation" | "readAt"): void {
  let isLost = false;
  Object.assign(live.directory, { dataLost: () => isLost });
  const carryOut = store[call] as unknown as (...given: readonly unknown[]) => Promise<unknown>;
  Object.assign(store, {
    [call]: async (...given: readonly unknown[]) => {
      const answered = await carryOut(...given);
      isLost = true;
      return answered;
    },
  });
}

describeServed("data that are lost while a request is carried out", (serve) => {
  const refusal = [503, "data_lost", "60"];

  it("refuse a list, and what was found or not", async () => {
    for (const [path, call] of [
      ["/api/books", "pageByCreation"],
      ["/api/books/0198f8a2-0000-7000-8000-000000000000", "read"],
      ["/json/flags", "readAt"],
    ] as const) {
      const served = await serve(shop);
      losesData(served, call);
      const { status, code, headers } = await served.send(path, { as });
      expect([status, code, headers["retry-after"]]).toEqual(refusal);
    }
  });

  it("refuse the acknowledgement of a write, and say that it may be gone", async () => {
    const served = await serve(shop);
    losesData(served, "create");
    const refused = await served.send("/api/books", { method: "POST", body: {}, as });
    expect([refused.status, refused.code, refused.headers["retry-after"]]).toEqual(refusal);
    expect(refused.text).toContain("during the request");
  });

  it("don't refuse what the store answered nothing for", async () => {
    const served = await serve(shop);
    Object.assign(served.live.directory, { dataLost: () => true });
    expect((await served.send("/.well-known/jwks.json")).status).toBe(200);
    expect((await served.send("/openapi.json", { as })).status).toBe(200);
  });
});
