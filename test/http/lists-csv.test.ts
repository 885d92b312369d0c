// Lists as CSV: the objects that JSON shows, in columns that people open as a spreadsheet.

import { beforeEach, expect, it } from "vitest";
import { firstRecord } from "../../core/csv.ts";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed, describeServedOnBothStores, type Serve, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    author: { type: "object", properties: { name: { type: "string" }, born: { type: ["integer", "null"] } } },
    price: { type: "number" },
    tags: { type: "array" },
    any: { properties: { part: { type: "string" } } },
    "=odd,name": { type: "boolean" },
  },
} as const;
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withResource("books", { schema, indexes: ["price"] }),
);
const head = `id,title,author.name,author.born,price,tags,any,"'=odd,name",_metadata.created,_metadata.creator,_metadata.creator_type`;

interface Asking {
  readonly served: Served;
  ask(query: string, accept?: string): ReturnType<Served["send"]>;
}

async function serveBooks(serve: Serve): Promise<Asking> {
  const served = await serve(shop);
  const ask = (query: string, accept = "text/csv") =>
    served.send(`/api/books?${query}`, { as: key, headers: { accept } });
  return { served, ask };
}

/** Fields of simple records, without the header. */
function recordsOf(text: string): readonly (readonly string[])[] {
  const lines = text.slice(firstRecord(text).length).split("\r\n");
  return lines.slice(0, -1).map((line) => line.split(","));
}

describeServedOnBothStores("a list as CSV", (serve) => {
  let served: Served;
  let ask: Asking["ask"];
  beforeEach(async () => {
    ({ served, ask } = await serveBooks(serve));
  });

  it("has a header, a column for each declared value, and numbers as they are stored", async () => {
    const body = `{"undeclared":1,"=odd,name":true,"title":"Say \\"hi\\",\\nEmma","price":18446744073709551615,
      "author":{"born":null,"name":"","more":1},"tags":["a",1.0],"any":{"part":"x"}}`;
    const { id, _metadata } = await make(served, "books", body, key);
    const reply = await ask("");
    expect(reply.headers["content-type"]).toBe("text/csv; charset=utf-8; header=present");
    const record = `${id},"Say ""hi"",\nEmma","",,18446744073709551615,"[""a"",1.0]","{""part"":""x""}",true`;
    expect(reply.text).toBe(`${head}\r\n${record},${_metadata.created},writer,apikey\r\n`);
    expect(firstRecord(reply.text)).toBe(`${head}\r\n`);
  });

  it("filters, sorts and scopes as JSON does, and walks by the links in its head", async () => {
    for (const price of [3, 1, 5, 2, 4]) await make(served, "books", { price }, key);
    await make(served, "books", { price: 3.5 }, apikey("other"));
    const prices: (string | undefined)[] = [];
    let pages = 0;
    for (let query: string | undefined = "_sort=-price&price:ge=2&_limit=3&_cursor="; query !== undefined; pages += 1) {
      const reply = await ask(query);
      expect(reply.headers["vary"]).toBe("Accept, Authorization, Origin");
      prices.push(...recordsOf(reply.text).map((fields) => fields[4]));
      const next = /<([^>]*)>; rel="next"/.exec(String(reply.headers["link"]))?.[1];
      query = next && new URL(next).search.slice(1);
    }
    expect([pages, prices]).toEqual([2, ["5", "4", "3", "2"]]);
    const second = await ask("_limit=2&_offset=2");
    const { links } = await list(served, "books?_limit=2&_offset=2", key);
    expect(second.headers["link"]).toBe(`<${links.next}>; rel="next", <${links.prev}>; rel="prev"`);
  });
});

describeServed("a list as CSV", (serve) => {
  let served: Served;
  let ask: Asking["ask"];
  beforeEach(async () => {
    ({ served, ask } = await serveBooks(serve));
  });

  it("shows what _fields names, in its order, what the schema doesn't declare too", async () => {
    const { id } = await make(served, "books", { title: "Emma", author: { name: "Jane", more: [1] }, free: "x" }, key);
    expect((await ask("_fields=free,author.more,author,title")).text).toBe(
      `id,free,author.name,author.born,title\r\n${id},x,Jane,,Emma\r\n`,
    );
    expect((await ask("_fields=author.more,_metadata.creator")).text).toBe(
      `id,author.more,_metadata.creator\r\n${id},[1],writer\r\n`,
    );
  });

  it("quotes long texts as it does short ones", async () => {
    const title = '\uFEFFsays "é", '.repeat(1_000);
    await make(served, "books", { title }, key);
    const { text } = await ask("_fields=title");
    expect(text.slice(text.indexOf("\r\n") + 39)).toBe(`"${title.replaceAll('"', '""')}"\r\n`);
  });

  it("makes formulas harmless, and leaves numbers alone", async () => {
    for (const title of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "1=1"]) {
      await make(served, "books", { title, price: -1 }, key);
    }
    const { text } = await ask("_fields=title,price");
    const records = text.split(/\r\n(?!=)/).slice(1, -1);
    expect(records.map((record) => record.slice(37))).toEqual([
      ...["'=1+1,-1", "'+1,-1", "'-1,-1", "'@SUM(A1),-1", "'\t=1,-1", `"'\r=1",-1`, "'＝1,-1", "1=1,-1"],
    ]);
  });

  it.each([
    ["text/csv, application/json;q=0.9", "text/csv"],
    ["TEXT/CSV;charset=UTF-8;q=0.5, */*;q=0.1", "text/csv"],
    ["text/event-stream;q=0.1, text/csv", "text/csv"],
    ["text/csv;q=0.5, application/json", "application/json"],
    ["text/csv;q=0", "application/json"],
    ["text/csv;header=absent", "application/json"],
    ["text/*", "application/json"],
    ["image/png", "application/json"],
  ])("is sent where Accept prefers it: %s", async (accept, expected) => {
    const reply = await ask("_limit=1", accept);
    expect([reply.status, String(reply.headers["content-type"]).split(";")[0]]).toEqual([200, expected]);
  });

  it("has a tag of its own, which changes with the next page", async () => {
    await make(served, "books", { title: "Emma" }, key);
    const tagOf = async (accept: string) => String((await ask("_limit=1", accept)).headers["etag"]);
    const [asCsv, asJson] = [await tagOf("text/csv"), await tagOf("application/json")];
    expect(asCsv).not.toBe(asJson);
    const again = (tag: string) =>
      served.send("/api/books?_limit=1", { as: key, headers: { accept: "text/csv", "if-none-match": tag } });
    expect([(await again(asCsv)).status, (await again(asJson)).status]).toEqual([304, 200]);
    await make(served, "books", { title: "Persuasion" }, key);
    expect((await again(asCsv)).status).toBe(200);
  });

  it("is refused as JSON would be, as problem details, and with _etags", async () => {
    const refused = await served.send("/api/books", { headers: { accept: "text/csv" } });
    expect(outcome(refused)).toEqual([401, "authentication_required"]);
    expect(outcome(await ask("_limit=1000"))).toEqual([400, "invalid_parameter"]);
    expect(outcome(await ask("_etags=true"))).toEqual([400, "invalid_parameter"]);
  });
});
