// Whose objects a caller reaches: role Users its own, as far as the resource's scope says,
// Administrators all.

import { beforeAll, describe, expect, it } from "vitest";
import type { Scope } from "../../core/config/types.ts";
import { list, login, make, outcome, type ServedObject } from "../support/http/api-calls.ts";
import {
  apikey,
  bearer,
  project,
  withKey,
  withoutKey,
  withoutUser,
  withResource,
  withUser,
} from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const indexed = {
  schema: { type: "object", properties: { n: { type: "integer" } } },
  indexes: ["n"],
} as const;
const reaching = (read: Scope, write: Scope) => ({ ...indexed, scope: { read, write } });

const shop = project(
  "shop",
  withUser("alice"),
  withUser("bob"),
  withUser("admin", { role: "Administrators" }),
  withKey("alice"),
  withKey("anonymous"),
  withKey("admin-key", { role: "Administrators" }),
  withKey("admin-reader", { role: "Administrators", access: "Read" }),
  withResource("private", indexed),
  withResource("noticeboard", reaching("All", "Own")),
  withResource("wiki", reaching("All", "All")),
  withResource("inbox", {
    ...indexed,
    access: { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" },
  }),
  withResource("shredder", {
    ...reaching("All", "Own"),
    access: { create: "Anyone", read: "Administrators", delete: "Authenticated" },
  }),
);

describeServed("a caller of role Users", (serve) => {
  let served: Served;
  let alice: string;
  let bob: string;
  beforeAll(async () => {
    served = await serve(shop);
    alice = bearer((await login(served, "alice")).access_token);
    bob = bearer((await login(served, "bob")).access_token);
  });
  const onObject = async (resource: string, object: ServedObject, as?: string) => {
    const path = `/api/${resource}/${object.id}`;
    const by = as === undefined ? {} : { as };
    const read = await served.send(path, by);
    const update = await served.send(path, { method: "PUT", body: { seen: true }, ...by });
    const remove = await served.send(path, { method: "DELETE", ...by });
    return { read: outcome(read), update: outcome(update), remove: outcome(remove) };
  };
  const hidden = { read: [404, "not_found"], update: [404, "not_found"], remove: [404, "not_found"] };
  const free = { read: [200, undefined], update: [200, undefined], remove: [204, undefined] };

  it("reaches what it made", async () => {
    expect(await onObject("private", await make(served, "private", {}, alice), alice)).toEqual(free);
  });

  it("does not learn that others' objects exist, and can't touch them", async () => {
    const made = await make(served, "private", { n: 1 }, bob);
    expect(await onObject("private", made, alice)).toEqual(hidden);
    expect((await served.send(`/api/private/${made.id}`, { as: bob })).json()).toEqual(made);
  });

  it("finds only its own in lists, sorted and filtered lists and count", async () => {
    for (const n of [1, 2, 3]) {
      await make(served, "private", { n }, alice);
      await make(served, "private", { n, of: "bob" }, bob);
    }
    for (const query of ["", "?_sort=n", "?_sort=-n", "?_sort=id", "?_sort=of", "?n=2", "?n=2&_sort=of"]) {
      const { count, items } = await list(served, `private${query}`, alice);
      expect(items.length).toBe(count);
      expect(items.every((item) => item._metadata.creator === "alice")).toBe(true);
      expect(count).toBe(query.includes("n=2") ? 1 : 3);
    }
  });

  it("owns neither what an API key of its name made, nor the key what the user made", async () => {
    const byUser = await make(served, "private", {}, alice);
    const byKey = await make(served, "private", {}, apikey("alice"));
    expect(await onObject("private", byKey, alice)).toEqual(hidden);
    expect(await onObject("private", byUser, apikey("alice"))).toEqual(hidden);
    expect(await onObject("private", byKey, apikey("alice"))).toEqual(free);
  });

  it("keeps what it made when an administrator changes it", async () => {
    const made = await make(served, "private", {}, alice);
    await served.send(`/api/private/${made.id}`, { method: "PUT", body: { n: 5 }, as: apikey("admin-key") });
    expect((await served.send(`/api/private/${made.id}`, { as: alice })).json()).toEqual({ ...made, n: 5 });
    expect((await served.send(`/api/private/${made.id}`, { as: apikey("admin-key") })).status).toBe(200);
  });

  describe("under scope read All, write Own", () => {
    it("reads and lists everything, and gets 403 on writes to others' objects", async () => {
      const made = await make(served, "noticeboard", {}, bob);
      expect(await onObject("noticeboard", made, alice)).toEqual({
        read: [200, undefined],
        update: [403, "insufficient_access"],
        remove: [403, "insufficient_access"],
      });
      expect((await list(served, "noticeboard", alice)).items).toContainEqual(made);
    });

    it("writes its own", async () => {
      expect(await onObject("noticeboard", await make(served, "noticeboard", {}, alice), alice)).toEqual(free);
    });

    it("is refused before the update is judged, so that others' objects can't be probed", async () => {
      const made = await make(served, "noticeboard", { n: 1 }, bob);
      const path = `/api/noticeboard/${made.id}`;
      for (const body of [{}, { n: "not a number" }, { _metadata: 1 }]) {
        const reply = await served.send(path, { method: "PUT", body, as: alice });
        expect(outcome(reply)).toEqual([403, "insufficient_access"]);
      }
    });
  });

  it("changes and deletes everybody's under scope read All, write All, and owns none of it for that", async () => {
    const made = await make(served, "wiki", {}, bob);
    const path = `/api/wiki/${made.id}`;
    const changed = await served.send(path, { method: "PUT", body: { n: 1 }, as: alice });
    expect(changed.json()).toEqual({ ...made, n: 1 });
    expect(await onObject("wiki", made, alice)).toEqual(free);
  });

  it("who may delete and not read does not learn from a refusal what others made", async () => {
    const made = await make(served, "shredder", {}, bob);
    const reply = await served.send(`/api/shredder/${made.id}`, { method: "DELETE", as: alice });
    expect(outcome(reply)).toEqual([404, "not_found"]);
    const own = await make(served, "shredder", {}, alice);
    expect((await served.send(`/api/shredder/${own.id}`, { method: "DELETE", as: alice })).status).toBe(204);
  });

  it("without a credential, where anyone may act, reaches what was made without one", async () => {
    const made = await make(served, "inbox", { n: 1 });
    expect((await list(served, "inbox")).items).toEqual([made]);
    expect(await onObject("inbox", made)).toEqual(free);
  });

  it("without a credential, where anyone may act, does not reach what known callers made, nor they what nobody made", async () => {
    const byKey = await make(served, "inbox", {}, apikey("anonymous"));
    const byNobody = await make(served, "inbox", {});
    expect(await onObject("inbox", byKey)).toEqual(hidden);
    expect(await onObject("inbox", byNobody, apikey("anonymous"))).toEqual(hidden);
    expect(await onObject("inbox", byNobody, alice)).toEqual(hidden);
    expect((await list(served, "inbox")).items).toEqual([byNobody]);
    expect((await list(served, "inbox", alice)).count).toBe(0);
  });
});

describeServed("a caller of role Administrators", (serve) => {
  it.each(["private", "noticeboard", "wiki", "inbox"])(
    "reaches all objects of %s, whatever its scope",
    async (name) => {
      const served = await serve(shop);
      const alice = bearer((await login(served, "alice")).access_token);
      const admin = bearer((await login(served, "admin")).access_token);
      const made = [await make(served, name, { n: 2 }, alice), await make(served, name, { n: 1 }, apikey("alice"))];
      expect((await list(served, name, admin)).items).toEqual(made);
      expect((await list(served, `${name}?_sort=n`, admin)).items).toEqual(made.toReversed());
      expect((await list(served, name, apikey("admin-reader"))).count).toBe(2);
      for (const { id } of made) {
        const path = `/api/${name}/${id}`;
        expect((await served.send(path, { as: admin })).status).toBe(200);
        expect((await served.send(path, { method: "PUT", body: { n: 3 }, as: apikey("admin-key") })).status).toBe(200);
        expect((await served.send(path, { method: "DELETE", as: admin })).status).toBe(204);
      }
    },
  );

  it("becomes one at once when the role changes, with the token it has, and ceases to be one as well", async () => {
    const served = await serve(shop);
    const alice = bearer((await login(served, "alice")).access_token);
    await make(served, "private", {}, apikey("alice"));
    expect((await list(served, "private", alice)).count).toBe(0);
    served.change(withUser("alice", { role: "Administrators" }));
    expect((await list(served, "private", alice)).count).toBe(1);
    served.change(withUser("alice", { access: "Read" }));
    expect((await list(served, "private", alice)).count).toBe(0);
    const reply = await served.send("/api/private", { method: "POST", body: {}, as: alice });
    expect(outcome(reply)).toEqual([403, "insufficient_access"]);
  });
});

describeServed("an owner who is made again under the same name", (serve) => {
  it("finds what the one before made, a user and a key alike", async () => {
    const served = await serve(shop);
    const alice = bearer((await login(served, "alice")).access_token);
    const byUser = await make(served, "private", { n: 1 }, alice);
    const byKey = await make(served, "private", { n: 2 }, apikey("alice"));
    served.change(withoutUser("alice"), withoutKey("alice"));
    served.change(withUser("alice", { password: "another" }), withKey("alice", { key: "jp_another-key" }));
    const again = bearer((await login(served, "alice", "another")).access_token);
    expect((await list(served, "private", again)).items).toEqual([byUser]);
    expect((await list(served, "private", "apikey jp_another-key")).items).toEqual([byKey]);
  });
});
