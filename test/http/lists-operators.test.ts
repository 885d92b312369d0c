// Filter operators, several sort keys, chosen fields and uncounted lists, over HTTP: what each
// finds, on indexed fields and on others.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");

const schema = {
  type: "object",
  properties: {
    n: { type: "integer" },
    title: { type: "string" },
    price: { type: "number" },
    sold: { type: "boolean" },
    tags: { type: "array" },
    any: {},
    author: { type: "object", properties: { name: { type: "string" } } },
    "author.name": { type: "string" },
    stock: { type: "integer" },
  },
} as const;

const indexes = ["title", "price", "sold", "any", "author.name", "stock"];

const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("indexed", { schema, indexes }),
  withResource("scanned", { schema, indexes: [] }),
);

const rows: readonly string[] = [
  '{"n":0,"title":"Dune","price":12.5,"sold":true,"tags":["sand","spice"],"any":5}',
  '{"n":1,"title":"Dune Messiah","price":10,"sold":false,"tags":[1,"1",null],"any":"5","author.name":"Frank"}',
  '{"n":2,"title":"Emma","price":10.0,"tags":"a text","any":true,"author":{"name":"Jane"}}',
  '{"n":3,"title":"","price":1e2,"sold":true,"tags":[["sand"]],"any":null,"stock":9007199254740993}',
  '{"n":4,"title":"a,b\\\\c","any":[5],"tags":[],"stock":9007199254740992}',
  '{"n":5,"price":null,"title":"Düne","any":{"x":5}}',
];

describeServed("a list under operators", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    for (const resource of ["indexed", "scanned"]) {
      for (const row of rows) {
        const other = row.replace('"price":null', '"price":1').replace('"tags":"a text"', '"tags":["a text"]');
        await make(served, resource, other, apikey("other"));
        const made = await make(served, resource, other, key);
        expect(made.n).toBe(rows.indexOf(row));
      }
    }
  });

  describe.each(["indexed", "scanned"])("on fields that are %s", (resource) => {
    const matches = async (query: string) => {
      const { count, items } = await list(served, `${resource}?${query}`, key);
      expect(count).toBe(items.length);
      return items.map((item) => item.n);
    };

    it.each<[string, string, readonly number[]]>([
      [":gt on numbers, in order of creation", "price:gt=10", [0, 3]],
      [":ge", "price:ge=10", [0, 1, 2, 3]],
      [":lt", "price:lt=10.0", [5]],
      [":le", "price:le=1e1", [1, 2, 5]],
      ["two bounds", "price:gt=1&price:lt=100", [0, 1, 2]],
      ["bounds that contradict each other", "price:gt=5&price:lt=2", []],
      ["a bound and a value", "price=10&price:gt=5", [1, 2]],
      ["a bound and a value that contradict each other", "price=10&price:gt=50", []],
      ["a range in its own order", "price:ge=10&_sort=price", [1, 2, 0, 3]],
      ["a range in the reverse of it", "price:ge=10&_sort=-price", [3, 0, 2, 1]],
      [":gt beyond 53 bits", "stock:gt=9007199254740992", [3]],
      [":gt on strings", "title:gt=Dune", [1, 2, 4, 5]],
      [":le on strings", "title:le=Dune", [0, 3]],
      [":gt on booleans", "sold:gt=false", [0, 3]],
      [":gt as a number and as a text, each among its own", "any:gt=4", [0, 1]],
      [":lt without values of other types", "any:lt=zz", [1]],
      [":ne, and with it missing fields", "sold:ne=true", [1, 2, 4, 5]],
      [":ne in the order of the field", "price:ne=10&_sort=price", [4, 5, 0, 3]],
      [":in", "price:in=12.50,100", [0, 3]],
      [":in of one", "price:in=10", [1, 2]],
      [":in with a comma and a backslash", "title:in=a%5C%2Cb%5C%5Cc,Emma", [2, 4]],
      [":in of an empty text", "title:in=", [3]],
      [":in in the order of the field", "title:in=Emma,Dune&_sort=-title", [2, 0]],
      [":contains in a string", "title:contains=une", [0, 1]],
      [":contains of nothing", "title:contains=", [0, 1, 2, 3, 4, 5]],
      [":contains in an array", "tags:contains=sand", [0]],
      [":contains of a number or a text", "tags:contains=1", [1]],
      [":contains of null", "tags:contains=null", [1]],
      [":contains of a text that an element has, not is", "tags:contains=spic", []],
      [":starts", "title:starts=Dun", [0, 1]],
      [":starts beyond ASCII", "title:starts=D%C3%BC", [5]],
      [":starts with nothing", "title:starts=&title:ne=Emma", [0, 1, 3, 4, 5]],
      [":starts in the order of the field", "title:starts=D&_sort=title&_limit=3", [0, 1, 5]],
      [":exists=true", "sold:exists=true", [0, 1, 3]],
      [":exists=false, where null is nothing", "any:exists=false", [3]],
      [":exists on arrays", "tags:exists=false", [5]],
      ["a property with a dot before a path", "author.name:exists=true", [1]],
      ["several fields", "price:ge=10&title:starts=Dune&sold=true", [0]],
      ["several keys", "_sort=price,-title", [4, 5, 2, 1, 0, 3]],
      ["several keys, ties in order of creation", "_sort=-sold,price,id", [0, 3, 1, 4, 5, 2]],
    ])("matches %s", async (_what, query, expected) => {
      expect(await matches(query)).toEqual(expected);
    });

    it("pages through a range and counts all of it", async () => {
      const first = await list(served, `${resource}?price:ge=10&_sort=price&_limit=3`, key);
      expect([first.count, first.items.map((item) => item.n)]).toEqual([4, [1, 2, 0]]);
      expect(first.links.next).toMatch(/\?_limit=3&_offset=3&_sort=price&price%3Age=10$/);
      const second = (
        await served.send(`/api/${resource}?price:ge=10&_sort=price&_limit=3&_offset=3`, { as: key })
      ).json();
      expect(second).toMatchObject({ count: 4, items: [{ n: 3 }] });
    });

    it("shows the chosen fields and the id, numbers as they are stored", async () => {
      const path = `/api/${resource}?stock:exists=true&_sort=-stock&_fields=stock,author.name,_metadata.creator`;
      const { text } = await served.send(path, { as: key });
      expect(text).toMatch(
        /"items":\[\{"id":"[^"]+","stock":9007199254740993,"_metadata":\{"creator":"writer"\}\},\{"id":"[^"]+","stock":9007199254740992,/,
      );
      expect(JSON.parse(text).links.self).toMatch(
        /&_sort=-stock&_fields=stock%2Cauthor.name%2C_metadata.creator&stock%3Aexists=true$/,
      );
    });

    it("leaves the count out, and has next and prev all the same", async () => {
      const ask = async (query: string) => (await served.send(`/api/${resource}?${query}`, { as: key })).json();
      for (const query of ["title:contains=e", "price:ge=10&_sort=price", "sold:ne=true", "_sort=title"]) {
        const { count, items, links } = await list(served, `${resource}?${query}&_limit=1&_offset=1`, key);
        const uncounted = await ask(`${query}&_limit=1&_offset=1&_count=false`);
        expect(uncounted).toMatchObject({ items });
        expect(Object.keys(uncounted as object)).toEqual(["items", "links"]);
        const { next, prev } = (uncounted as { links: typeof links }).links;
        expect([next !== undefined, prev !== undefined]).toEqual([links.next !== undefined, links.prev !== undefined]);
        expect(count).toBeGreaterThan(2);
        expect(next).toContain("&_count=false");
      }
    });
  });

  it.each([
    ["an operator that there is none of", "price:like=1", /allowed are :gt :ge :lt :le :ne :in :exists$/],
    ["one that the field's type has no use for", "price:starts=1", /holds numbers.*allowed are/],
    ["one on a field that is not declared", "colour:gt=1", /allowed are _limit.*title/],
    ["a value of another type", "price:gt=cheap", /a number/],
  ])("refuses %s, and says what is allowed", async (_what, query, detail) => {
    const reply = await served.send(`/api/indexed?${query}`, { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect(reply.json().detail).toMatch(detail);
  });

  it("tells long texts apart that begin alike", async () => {
    const long = "é".repeat(600);
    for (const resource of ["indexed", "scanned"]) {
      for (const end of ["x", "y"]) await make(served, resource, { title: long + end }, apikey("other"));
      for (const [query, expected] of [
        [`title:starts=${long}x`, ["x"]],
        [`title:starts=${long}`, ["x", "y"]],
        [`title:in=${long}y,${long}`, ["y"]],
        [`title:starts=${long.slice(0, 512)}&title:ne=${long}x`, ["y"]],
      ] as const) {
        const { items } = await list(served, `${resource}?_sort=title&${encodeURI(query)}`, apikey("other"));
        expect(items.map(({ title }) => String(title).slice(600))).toEqual(expected);
      }
    }
  });
});

describeServed("reading an object with _fields", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });

  it("shows those fields and the id, under the tag of the whole object", async () => {
    const made = await make(
      served,
      "indexed",
      '{"n":1,"price":1.0,"author":{"name":"Ann","age":3},"author.name":"x"}',
      key,
    );
    const path = `/api/indexed/${made.id}`;
    const whole = await served.send(path, { as: key });
    const part = await served.send(`${path}?_fields=price,author`, { as: key });
    expect(part.text).toBe(`{"id":"${made.id}","price":1.0,"author":{"name":"Ann","age":3}}`);
    expect((await served.send(`${path}?_fields=author.name`, { as: key })).text).toBe(
      `{"id":"${made.id}","author.name":"x"}`,
    );
    expect((await served.send(`${path}?_fields=author.age`, { as: key })).text).toBe(
      `{"id":"${made.id}","author":{"age":3}}`,
    );
    expect(part.headers.etag).toBe(whole.headers.etag);
    const tag = String(part.headers.etag);
    const write = { method: "PUT", body: { n: 2 }, as: key, headers: { "if-match": tag } };
    expect((await served.send(path, write)).status).toBe(200);
  });

  it("refuses what names no field", async () => {
    const made = await make(served, "indexed", { n: 1 }, key);
    const reply = await served.send(`/api/indexed/${made.id}?_fields=`, { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
  });
});
