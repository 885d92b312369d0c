// Quotas and what is stored of a project without being served: data that were kept when their
// object went. Whoever deletes a resource and makes another one has no more room than before.

import { expect, it } from "vitest";
import type { CompiledProject, UnservedData } from "../../core/config/types.ts";
import { make, outcome } from "../support/http/api-calls.ts";
import {
  apikey,
  type Modifier,
  project,
  withConfig,
  withKey,
  withLimits,
  withResource,
  withRootKey,
} from "../support/http/projects.ts";
import { describeServedEverywhere, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const as = apikey("admin");
const shop = (...more: readonly Modifier[]) =>
  project(
    "shop",
    withKey("admin", { role: "Administrators" }),
    withResource("books"),
    withResource("films"),
    withRootKey("kv", { initialValue: "{}" }),
    withRootKey("other", { initialValue: "{}" }),
    ...more,
  );
const text = "x".repeat(400);
const books: UnservedData = { what: "resource", name: "books" };
const kv: UnservedData = { what: "rootkey", name: "kv" };

/** The objects of books and root key kv go, and their data stay. */
function keptWithout(...unserved: readonly UnservedData[]): Modifier {
  return (parts: CompiledProject) => ({
    ...withConfig({ unserved })(parts),
    resources: new Map([...parts.resources].filter(([name]) => name !== "books")),
    rootKeys: new Map([...parts.rootKeys].filter(([name]) => name !== "kv")),
  });
}

const create = async (served: Served) =>
  outcome(await served.send("/api/films", { method: "POST", body: { text }, as }));
const put = async (served: Served, path: string) =>
  outcome(await served.send(path, { method: "PUT", body: { text }, as }));
const refused = [403, "quota_exceeded"];

describeServedEverywhere("data that are stored and not served", (serve) => {
  it("count for a quota of objects, until they are gone", async () => {
    const served = await serve(shop(withLimits({ quota: { objects: 2 } })));
    const ids = [(await make(served, "books", { text }, as)).id, (await make(served, "books", { text }, as)).id];
    served.change(keptWithout(books, kv));
    expect(await create(served)).toEqual(refused);
    // As a replica purges them.
    const collection = { project: { namespace: served.namespace, name: "shop" }, resource: "books" };
    for (const id of ids) await served.store.remove(collection, String(id), {});
    served.change(keptWithout());
    expect((await create(served))[0]).toBe(201);
  });

  it("count for a quota of bytes, also where none asked for their bytes while they were served", async () => {
    const served = await serve(shop());
    for (let at = 0; at < 3; at += 1) await make(served, "books", { text }, as);
    served.change(keptWithout(books, kv), withLimits({ quota: { bytes: 16_000 } }));
    await eventually(async () => {
      // The same each time: it adds nothing, and has the replica look.
      await put(served, "/json/other/c");
      const [report] = served.plane.quotas.reports();
      expect(report?.quotas.bytes?.used).toBeGreaterThan(3 * text.length + text.length);
    });
    served.change(withLimits({ quota: { bytes: 1_800 } }));
    expect(await create(served)).toEqual(refused);
    served.change(withLimits({ quota: { bytes: 16_000 } }));
    expect((await create(served))[0]).toBe(201);
  });

  it("count for a quota of document keys and their bytes", async () => {
    const served = await serve(shop(withLimits({ quota: { documentKeys: 2, bytes: 10_000 } })));
    for (const key of ["a", "b"]) expect((await put(served, `/json/kv/${key}`))[0]).toBeLessThan(300);
    served.change(keptWithout(books, kv));
    expect(await put(served, "/json/other/c")).toEqual(refused);
    served.change(keptWithout(books));
    expect((await put(served, "/json/other/c"))[0]).toBeLessThan(300);
  });
});
