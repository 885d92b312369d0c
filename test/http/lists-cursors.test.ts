// Walks through lists by cursors: what links they have, and that whatever is written meanwhile,
// each object that stays as it is comes once.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome, type ServedObject } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const schema = {
  type: "object",
  properties: {
    n: { type: "integer" },
    shelf: { type: "string" },
    rank: { type: "integer" },
    plain: { type: "integer" },
  },
} as const;

const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("books", { schema, indexes: ["shelf", "rank"] }),
);

describeServedOnBothStores("a walk by cursor", (serve) => {
  let served: Served;
  let all: readonly ServedObject[];
  beforeAll(async () => {
    served = await serve(shop);
    const made: ServedObject[] = [];
    for (let n = 0; n < 23; n += 1) {
      made.push(await make(served, "books", { n, shelf: "abc"[n % 3], rank: n % 5, plain: n % 4 }, key));
      await make(served, "books", { n, shelf: "a", rank: 1, plain: 1 }, apikey("other"));
    }
    all = made;
  });

  /** The numbers that a walk shows, page by page. */
  async function walk(query: string): Promise<readonly (readonly unknown[])[]> {
    const pages: (readonly unknown[])[] = [];
    for (let path: string | undefined = `books?${query}&_cursor=`; path !== undefined; ) {
      const { items, links } = await list(served, path, key);
      pages.push(items.map(({ n }) => n));
      path = links.next && `books${new URL(links.next).search}`;
    }
    return pages;
  }

  it.each([
    "_limit=7",
    "_limit=7&_sort=-id",
    "_limit=7&_sort=-_metadata.created",
    "_limit=4&_sort=rank",
    "_limit=4&_sort=-rank",
    "_limit=4&shelf=b",
    "_limit=4&shelf=b&_sort=-id",
    "_limit=5&shelf:in=a,c&_sort=-shelf",
    "_limit=5&rank:ge=2&_sort=rank",
    "_limit=5&rank:ne=2&_sort=rank",
    "_limit=5&rank:ge=2",
    "_limit=5&plain:lt=3&_sort=-plain,rank",
    "_limit=23",
    "_limit=100",
  ])("shows what pages by offset show: %s", async (query) => {
    const whole = await list(served, `books?${query.replace(/_limit=\d+/, "_limit=100")}`, key);
    const limit = Number(/_limit=(\d+)/.exec(query)?.[1]);
    const pages = await walk(query);
    expect(pages.flat()).toEqual(whole.items.map(({ n }) => n));
    expect(pages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    expect(pages.at(-1)).not.toEqual([]);
  });

  it("counts everything on every page, unless it is told not to", async () => {
    const first = await list(served, "books?_cursor=&_sort=rank&_limit=10", key);
    const second = await list(served, `books${new URL(first.links.next ?? "").search}`, key);
    expect([first.count, second.count]).toEqual([23, 23]);
    const uncounted = await list(served, "books?_cursor=&_sort=rank&_count=false", key);
    expect(uncounted).not.toHaveProperty("count");
    expect(uncounted.links.next).toContain("&_count=false");
  });

  it("has itself and the next page as links, absolute, and nothing after the last one", async () => {
    const first = await list(served, "books?_cursor=&_sort=-rank&_limit=20&_fields=n", key);
    expect(first.links.self).toBe(`${served.origin}${served.base}/api/books?_limit=20&_cursor=&_sort=-rank&_fields=n`);
    expect(first.links.next).toMatch(/\?_limit=20&_cursor=[\w-]+&_sort=-rank&_fields=n$/);
    const second = await list(served, `books${new URL(first.links.next ?? "").search}`, key);
    expect(Object.keys(second.links)).toEqual(["self"]);
    expect(second.links.self).toBe(first.links.next);
    expect(Object.keys((await list(served, "books?_cursor=&shelf=none", key)).links)).toEqual(["self"]);
  });

  it("goes on from an object that was removed, and for another page size", async () => {
    const made: ServedObject[] = [];
    for (let n = 0; n < 6; n += 1) made.push(await make(served, "books", { n, shelf: "gone" }, key));
    const first = await list(served, "books?shelf=gone&_limit=3&_cursor=", key);
    for (const { id } of made.slice(1, 4)) await served.send(`/api/books/${id}`, { method: "DELETE", as: key });
    const rest = await list(
      served,
      `books${new URL(first.links.next ?? "").search.replace("_limit=3", "_limit=9")}`,
      key,
    );
    expect(rest.items.map(({ n }) => n)).toEqual([4, 5]);
    for (const { id } of made) await served.send(`/api/books/${id}`, { method: "DELETE", as: key });
  });

  it("never shows what the caller may not see, whosever cursor it is", async () => {
    const theirs = await list(served, "books?_cursor=&_sort=rank&_limit=5", apikey("other"));
    const { items } = await list(served, `books${new URL(theirs.links.next ?? "").search}`, key);
    expect(items.every(({ _metadata }) => _metadata.creator === "writer")).toBe(true);
  });

  it.each([
    ["is none", "_cursor=abc"],
    ["has another order", "_sort=rank&_cursor=<id>"],
    ["stands beside an offset", "_offset=0&_cursor=<id>"],
    ["is given twice", "_cursor=<id>&_cursor=<id>"],
  ])("refuses a cursor that %s", async (_what, query) => {
    const { links } = await list(served, "books?_cursor=&_limit=1", key);
    const cursor = new URL(links.next ?? "").searchParams.get("_cursor") ?? "";
    const reply = await served.send(`/api/books?${query.replaceAll("<id>", cursor)}`, { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
  });

  describe("while others write", () => {
    it.each(["_sort=id", "_sort=-id", "_sort=rank", "_sort=-rank", "rank:in=0,2,4&_sort=-rank", "_sort=-rank,shelf"])(
      "shows every object that stays as it is once, in order: %s",
      async (query) => {
        const kept = all.filter(({ rank }) => !query.includes(":in") || Number(rank) % 2 === 0).map(({ id }) => id);
        const seen: string[] = [];
        const ranks: number[] = [];
        let path: string | undefined = `books?${query}&_limit=3&_cursor=`;
        for (let step = 0; path !== undefined; step += 1) {
          const { items, links } = await list(served, path, key);
          seen.push(...items.map(({ id }) => id));
          ranks.push(...items.map(({ rank }) => Number(rank)));
          path = links.next && `books${new URL(links.next).search}`;
          await disturb(step);
        }
        const isKept = new Set(kept);
        expect(seen.filter((id) => isKept.has(id)).sort()).toEqual(kept.toSorted());
        if (query.includes("-rank")) expect(ranks).toEqual(ranks.toSorted((one, other) => other - one));
        for (const id of disturbed.splice(0)) await served.send(`/api/books/${id}`, { method: "DELETE", as: key });
      },
    );

    const disturbed: string[] = [];

    /** Creates, moves and removes objects before and behind wherever a walk may stand. */
    async function disturb(step: number): Promise<void> {
      if (disturbed.length > 60) return;
      for (let rank = 0; rank < 5; rank += 1) {
        const { id } = await make(served, "books", { n: -1, shelf: "new", rank }, key);
        disturbed.push(id);
      }
      const [moved, removed] = [disturbed[step], disturbed[2 * step + 3]];
      await served.send(`/api/books/${moved}`, { method: "PUT", body: { rank: (step + 3) % 5 }, as: key });
      await served.send(`/api/books/${removed}`, { method: "DELETE", as: key });
    }
  });
});
