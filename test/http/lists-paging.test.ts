// Which objects a page of a list holds, what count says, and where the links lead.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome, type ServedList, type ServedObject } from "../support/http/api-calls.ts";
import { send } from "../support/http/http-client.ts";
import { apikey, project, withKey, withLimits, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServed, describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("books", {
    schema: { type: "object", properties: { n: { type: "integer" }, "a b&c=d/é": { type: "string" } } },
    indexes: ["n"],
  }),
  withResource("empty"),
);

describeServedOnBothStores("a list", (serve) => {
  let served: Served;
  let made: readonly ServedObject[];
  let url: string;
  beforeAll(async () => {
    served = await serve(shop);
    url = `${served.origin}${served.base}/api/books`;
    const objects: ServedObject[] = [];
    for (let n = 0; n < 25; n += 1) {
      objects.push(await make(served, "books", { n }, key));
      await make(served, "books", { n: -1 }, apikey("other"));
    }
    made = objects;
  });
  const page = (query = "") => list(served, `books${query}`, key);

  it("answers 200 with count, items and links, and nothing else", async () => {
    const reply = await served.send("/api/books", { as: key });
    expect(reply.status).toBe(200);
    expect(Object.keys(reply.json())).toEqual(["count", "items", "links"]);
  });

  it("holds at most ten objects unless told otherwise, the oldest first, each whole with id and _metadata", async () => {
    expect((await page()).items).toEqual(made.slice(0, 10));
  });

  it("counts all objects that the caller can see, not only those of the page", async () => {
    expect((await page("?_limit=3")).count).toBe(25);
    expect((await page("?_offset=24")).count).toBe(25);
    expect((await page("?n=7")).count).toBe(1);
  });

  it("of nothing is empty, with a link to itself alone", async () => {
    const self = `${served.origin}${served.base}/api/empty?_limit=10&_offset=0`;
    expect(await list(served, "empty", key)).toEqual({ count: 0, items: [], links: { self } });
  });

  it("skips _offset objects and stops after _limit", async () => {
    const { items } = await page("?_limit=4&_offset=7");
    expect(items).toEqual(made.slice(7, 11));
  });

  it("shows every object once when it is read page by page, by next from the start and by prev from the end", async () => {
    const forth = await follow(served, `${url}?_limit=7`, "next");
    expect(forth.flatMap((each) => each.items)).toEqual(made);
    const back = await follow(served, forth.at(-1)?.links.self ?? "", "prev");
    expect(back.toReversed().flatMap((each) => each.items)).toEqual(made);
  });

  describe("links", () => {
    it("name _limit and _offset in self, defaults included", async () => {
      expect((await page()).links.self).toBe(`${url}?_limit=10&_offset=0`);
      expect((await page("?_offset=0010&_limit=05")).links.self).toBe(`${url}?_limit=5&_offset=10`);
    });

    it("have next and prev only where there is such a page", async () => {
      expect((await page("?_limit=25")).links).toEqual({ self: `${url}?_limit=25&_offset=0` });
      expect((await page("?_limit=24")).links).toMatchObject({ next: `${url}?_limit=24&_offset=24` });
      expect((await page("?_limit=5&_offset=20")).links).toEqual({
        self: `${url}?_limit=5&_offset=20`,
        prev: `${url}?_limit=5&_offset=15`,
      });
      expect((await page("?_limit=10&_offset=3")).links.prev).toBe(`${url}?_limit=10&_offset=0`);
    });

    it("past the end lead back to the last page that has something", async () => {
      expect((await page("?_limit=10&_offset=100")).links).toEqual({
        self: `${url}?_limit=10&_offset=100`,
        prev: `${url}?_limit=10&_offset=20`,
      });
    });

    it("put the sort behind the paging and filters behind the sort, whatever order the query had", async () => {
      const { links } = await page("?n=3&_sort=-n&_offset=0&_limit=2");
      expect(links.self).toBe(`${url}?_limit=2&_offset=0&_sort=-n&n=3`);
    });

    it("are percent-encoded so that following them asks the same question", async () => {
      const { links } = await page(`?${encodeURIComponent("a b&c=d/é")}=x+y%26z&_sort=-n&_limit=1`);
      expect(links.self).toBe(`${url}?_limit=1&_offset=0&_sort=-n&a%20b%26c%3Dd%2F%C3%A9=x%20y%26z`);
      const again = await send(served.origin, links.self.slice(served.origin.length), { as: key });
      expect(again.json<ServedList>().links.self).toBe(links.self);
    });

    it("have no slash more and no cache-buster when the request had", async () => {
      expect((await page("/?_=1760000000000")).links.self).toBe(`${url}?_limit=10&_offset=0`);
    });
  });

  it("past the end is empty and still counts", async () => {
    for (const offset of ["25", "1000", "9007199254740991", "9007199254740993", "9".repeat(40), "9".repeat(400)]) {
      for (const query of ["", "&_sort=n", "&_sort=-id", "&n=3"]) {
        const { count, items } = await page(`?_offset=${offset}${query}`);
        expect([offset, query, count, items]).toEqual([offset, query, query === "&n=3" ? 1 : 25, []]);
      }
    }
  });

  it.each([
    "0",
    "-1",
    "101",
    "1e1",
    "10.0",
    "0x10",
    "ten",
    "",
    "%20",
    "1,000",
    "%D9%A3",
    "NaN",
    "Infinity",
    "9".repeat(40),
  ])("refuses _limit=%s and names the maximum", async (value) => {
    const reply = await served.send(`/api/books?_limit=${value}`, { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect(reply.json().detail).toMatch(/_limit.*100/);
  });

  it.each(["-1", "1.5", "1e1", "first", "", "%00", "-0", "+1", "null"])("refuses _offset=%s", async (value) => {
    const reply = await served.send(`/api/books?_offset=${value}`, { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect(reply.json().detail).toContain("_offset");
  });

  it.each([
    ["_limit", "_limit=5&_limit=5"],
    ["_offset", "_offset=1&_offset=2"],
    ["_limit, once spelled with an escape", "_limit=5&%5Flimit=6"],
  ])("refuses %s given twice", async (_what, query) => {
    expect(outcome(await served.send(`/api/books?${query}`, { as: key }))).toEqual([400, "invalid_parameter"]);
  });

  it("refuses a query that is not percent-encoded UTF-8", async () => {
    for (const query of ["_limit=%", "n=%zz", "%ff=1"]) {
      expect(outcome(await served.send(`/api/books?${query}`, { as: key }))).toEqual([400, "invalid_parameter"]);
    }
  });

  it("takes an empty query and stray ampersands for no parameters", async () => {
    expect((await page("?")).items.length).toBe(10);
    expect((await page("?&&_limit=2&")).items.length).toBe(2);
  });

  it("serves good queries as before after all the bad ones", async () => {
    expect((await page()).items).toEqual(made.slice(0, 10));
  });
});

describeServed("a project's own maximum page size", (serve) => {
  it("is what _limit may be at most, and what a refusal names", async () => {
    const served = await serve(
      project("wide", withKey("writer"), withResource("r"), withLimits({ maxPageSize: 1000 })),
    );
    expect((await served.send("/api/r?_limit=1000", { as: key })).status).toBe(200);
    const reply = await served.send("/api/r?_limit=1001", { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect(reply.json().detail).toContain("1000");
  });
});

describeReplicas("lists", (serveTwice) => {
  it("agree on their pages while both replicas write", async () => {
    const planes = await serveTwice(shop);
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, n) => make(planes[n % 2] as Served, "books", { n: (n * 37) % 60 }, key)),
    );
    for (const plane of planes) {
      const byCreation = await follow(plane, `${plane.base}/api/books?_limit=9`, "next");
      expect(idsOf(byCreation)).toEqual(made.map(({ id }) => id).toSorted());
      const sorted = await follow(plane, `${plane.base}/api/books?_limit=9&_sort=-n`, "next");
      expect(sorted.flatMap((page) => page.items.map((item) => item.n))).toEqual(
        Array.from({ length: 60 }, (_, n) => 59 - n),
      );
    }
  });
});

/** The pages from `start` on, link by link. */
async function follow(served: Served, start: string, relation: "next" | "prev"): Promise<readonly ServedList[]> {
  const pages: ServedList[] = [];
  for (let at: string | undefined = start; at !== undefined && pages.length < 100; ) {
    const path: string = at.startsWith(served.origin) ? at.slice(served.origin.length) : at;
    const page: ServedList = (await send(served.origin, path, { as: key })).json<ServedList>();
    pages.push(page);
    at = page.links[relation];
  }
  return pages;
}

function idsOf(pages: readonly ServedList[]): readonly string[] {
  return pages.flatMap((page) => page.items.map((item) => item.id));
}
