// The tags of listed objects, with which a client writes conditionally without reading each object
// again.

import { beforeEach, expect, it } from "vitest";
import { list, make, outcome, type ServedList } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const schema = { properties: { n: { type: "integer" }, text: { type: "string" } } } as const;
const declared = { properties: { n: { type: "integer" }, _etags: { type: "string" } } } as const;
const shop = project(
  "shop",
  withKey("writer"),
  withResource("notes", { schema, indexes: ["n"] }),
  withResource("declared", { schema: declared }),
);

interface Tagged {
  readonly etags?: Readonly<Record<string, string>>;
}

describeServedOnBothStores("a list with _etags=true", (serve) => {
  let served: Served;
  beforeEach(async () => {
    served = await serve(shop);
    for (const n of [2, 1, 3]) await make(served, "notes", { n, text: "é\u0000" }, key);
  });
  const ask = async (query: string): Promise<ServedList & Tagged> => await list(served, `notes?${query}`, key);

  it.each(["_etags=true", "_etags=true&_sort=-n&_limit=2", "_etags=true&_cursor=", "_etags=true&text:contains=%C3%A9"])(
    "shows beside the objects, by id, the tag that each has by itself: %s",
    async (query) => {
      const { items, etags = {} } = await ask(query);
      expect(Object.keys(etags)).toEqual(items.map(({ id }) => id));
      for (const { id } of items) {
        expect(etags[id]).toBe((await served.send(`/api/notes/${id}`, { as: key })).headers["etag"]);
      }
    },
  );

  it("shows the tag of the whole object, whatever _fields shows of it, and it is good for If-Match", async () => {
    const { items, etags = {} } = await ask("_etags=true&_fields=n&_limit=1");
    const [{ id } = { id: "" }] = items;
    const write = (tag: string | undefined) =>
      served.send(`/api/notes/${id}`, { method: "PUT", body: { n: 9 }, as: key, headers: { "if-match": String(tag) } });
    expect((await write(etags[id])).status).toBe(200);
    expect(outcome(await write(etags[id]))).toEqual([412, "precondition_failed"]);
  });

  it("repeats it in links, and shows no tags otherwise", async () => {
    const page = await list(served, "notes?_etags=true&_limit=1&_count=false&n:ge=1", key);
    expect(page.links.self).toContain("&_count=false&_etags=true&n%3Age=1");
    for (const query of ["_limit=1", "_etags=false"]) expect(await ask(query)).not.toHaveProperty("etags");
    expect(outcome(await served.send("/api/notes?_etags=yes", { as: key }))).toEqual([400, "invalid_parameter"]);
  });

  it("is a filter, as before, where a property has that name", async () => {
    await make(served, "declared", { n: 1, _etags: "true" }, key);
    await make(served, "declared", { n: 2, _etags: "false" }, key);
    const page = await list(served, "declared?_etags=true&_limit=1", key);
    expect(page).toMatchObject({ count: 1, items: [{ n: 1, _etags: "true" }] });
    expect(page).not.toHaveProperty("etags");
    expect(page.links.self).toMatch(/_offset=0&_etags=true$/);
  });
});
