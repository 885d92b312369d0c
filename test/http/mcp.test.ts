// `jsonplane mcp` for the SDK's own client: over standard input and output as hosts start it, and
// its tools in this process.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, expect, it } from "vitest";
import { createMcpServer } from "../../cli/mcp/server.ts";
import { maxCharacters } from "../../cli/mcp/tool.ts";
import { apikey, keyOf, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";

const schema = {
  title: "Book",
  type: "object",
  required: ["title"],
  additionalProperties: false,
  properties: {
    title: { type: "string", description: "As on the cover" },
    price: { type: "number", minimum: 0 },
    isbn: { type: "integer" },
    text: { type: "string" },
  },
} as const;
const shop = project(
  "shop",
  withKey("model"),
  withKey("reader", { access: "Read" }),
  withResource("books", { schema, indexes: ["title", "price"], scope: { read: "All" } }),
  withResource("orders", { access: { create: "Administrators", delete: "Nobody" } }),
  withRootKey("settings", { initialValue: '{"theme":"red","hours":[{"from":"09:00"}]}' }),
);

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Answer {
  readonly structured: Readonly<Record<string, unknown>>;
  /** Of the only block, which is the same as JSON; or why it is refused. */
  readonly text: string;
  readonly isError: boolean;
}

type Call = (name: string, given?: Record<string, unknown>) => Promise<Answer>;

const callsOf =
  (client: Client): Call =>
  async (name, given = {}) => {
    const { content, structuredContent = {}, isError = false } = await client.callTool({ name, arguments: given });
    const [block] = content;
    return {
      structured: structuredContent as Answer["structured"],
      text: block?.type === "text" ? block.text : "",
      isError,
    };
  };

/** Calls tools in this process. */
async function tools(url: string, key: string, allowWrites = false): Promise<{ call: Call; names: string[] }> {
  const server = createMcpServer({ url, authorization: async () => apikey(key), allowWrites, version: "1.0.0" });
  const client = new Client({ name: "test", version: "1.0.0" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs);
  await client.connect(ours);
  closing.push(() => client.close());
  const listed = await client.listTools();
  return { call: callsOf(client), names: listed.tools.map(({ name }) => name) };
}

const at = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const urlOf = ({ origin, base }: Served) => origin + base;

describeServed("jsonplane mcp", (serve) => {
  it("shows a host on standard input and output what there is, what the key may do, and no key", async () => {
    const served = await serve(shop);
    const folder = temporaryFolder("jsonplane-mcp-");
    closing.push(() => folder.remove());
    const key = join(folder.path, "key");
    await writeFile(key, `${keyOf("reader")}\n`);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [fileURLToPath(new URL("../../cli/main.ts", import.meta.url)), "mcp", urlOf(served), "--api-key-file", key],
      stderr: "pipe",
    });
    const [faults, client] = [[] as Error[], new Client({ name: "test", version: "1.0.0" })];
    let said = "";
    transport.stderr?.on("data", (text) => {
      said += text;
    });
    client.onerror = (error) => faults.push(error);
    await client.connect(transport);
    closing.push(() => client.close());
    const { tools: offered } = await client.listTools();
    expect(offered.map(({ name }) => name)).toEqual([
      "describe_project",
      "describe_resource",
      "list_objects",
      "count_objects",
      "get_object",
      "read_value",
    ]);
    expect(offered.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    const call = callsOf(client);
    const all = await call("describe_project");
    expect(JSON.parse(all.text)).toEqual(all.structured);
    expect(all.structured).toEqual({
      project: "shop",
      caller: { kind: "apikey", name: "reader", role: "Users", access: "Read" },
      resources: [
        { name: "books", description: "Book", may: ["list", "get"] },
        { name: "orders", may: ["list", "get"] },
      ],
      root_keys: [{ name: "settings", may: ["read"] }],
    });
    const books = (await call("describe_resource", { resource: "books" })).structured;
    expect(books).toMatchObject({
      object: "Book",
      sort: ["title", "price", "id", "_metadata.created"],
      filters: { "price:ge": { type: "number" }, title: { type: "string" } },
      $defs: { Book: { properties: { title: { description: "As on the cover" } } } },
    });
    const missing = await call("describe_resource", { resource: "films" });
    expect([missing.isError, missing.text]).toEqual([true, expect.stringContaining("describe_project")]);
    expect([said, faults]).toEqual([expect.stringMatching(/for reading only\n$/), []]);
    expect(said + all.text).not.toContain(keyOf("reader"));
  });

  it("lists pages that fit into an answer, finds, counts, and keeps every digit", async () => {
    const served = await serve(shop);
    const isbn = "9007199254740993";
    const filler = "x".repeat(9_000);
    for (const n of [1, 2, 3, 4, 5, 6]) {
      const body = `{"title":"book ${n}","price":${n}.0,"isbn":${isbn},"text":"${filler}"}`;
      await served.send("/api/books", { method: "POST", as: apikey("model"), body });
    }
    const { call } = await tools(urlOf(served), "reader");
    const sort = ["-price"];
    const first = await call("list_objects", { resource: "books", sort, limit: 100 });
    expect(first.text.length).toBeLessThanOrEqual(maxCharacters);
    expect(first.text).toContain(`"price":6.0,"isbn":${isbn},`);
    const titles = ({ structured }: Answer) => (structured["objects"] as { title: string }[]).map(({ title }) => title);
    const second = await call("list_objects", {
      resource: "books",
      sort,
      limit: 100,
      cursor: first.structured["next"],
    });
    expect([...titles(first), ...titles(second)]).toEqual([6, 5, 4, 3, 2, 1].map((n) => `book ${n}`));
    expect([titles(first).length, first.structured["count"], second.structured["next"]]).toEqual([4, 6, undefined]);
    const filter = { "price:gt": 1, "title:in": ["book 1", "book 2"] };
    const found = await call("list_objects", { resource: "books", filter, fields: ["title"] });
    expect(titles(found)).toEqual(["book 2"]);
    const counts = await call("count_objects", { resource: "books", by: "title", filter });
    expect(counts.structured).toEqual({ count: 1, counts: [{ value: "book 2", count: 1 }] });
    expect((await call("count_objects", { resource: "books" })).structured).toEqual({ count: 6 });
    const refused = await call("list_objects", { resource: "books", filter: { colour: "red" } });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(/^400 invalid_parameter: .*price/)]);
    const uncounted = await call("count_objects", { resource: "books", filter: { _count: false } });
    expect([uncounted.isError, uncounted.text]).toEqual([true, expect.stringContaining("`_count` is sent twice")]);
  });

  it("says how to read less of what is too long for an answer", async () => {
    const described = { type: "object", description: "d".repeat(1_000) } as const;
    const many = Array.from({ length: 50 }, (_, n) => withResource(`r${n}`, { schema: described }));
    const served = await serve(
      project("shop", withKey("model"), withResource("books"), withRootKey("settings"), ...many),
    );
    const { call } = await tools(urlOf(served), "model", true);
    const all = (await call("describe_project")).structured["resources"] as object[];
    expect([all.length, all[1]]).toEqual([51, { name: "r0", may: ["list", "get", "create", "update", "delete"] }]);
    const long = { title: "long", text: "x".repeat(maxCharacters) };
    const { id } = (await call("create_object", { resource: "books", fields: long })).structured;
    for (const answer of [
      await call("list_objects", { resource: "books" }),
      await call("get_object", { resource: "books", id }),
    ])
      expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("`fields`")]);
    const short = await call("get_object", { resource: "books", id, fields: ["title"] });
    expect(short.structured["object"]).toEqual({ id, title: "long" });
    await call("set_value", { root_key: "settings", path: ["a/b"], value: long });
    const value = await call("read_value", { root_key: "settings" });
    expect([value.isError, value.text]).toEqual([true, expect.stringContaining('the keys "a/b"')]);
    expect((await call("read_value", { root_key: "settings", path: ["a/b", "title"] })).structured["value"]).toBe(
      "long",
    );
  });

  it("changes only what was read, with the rights of the key", async () => {
    const served = await serve(shop);
    const { call, names } = await tools(urlOf(served), "model", true);
    expect(names.slice(6)).toEqual(["create_object", "update_object", "delete_object", "set_value"]);
    const described = (await call("describe_project")).structured["resources"] as { may: string[] }[];
    expect(described.map(({ may }) => may)).toEqual([
      ["list", "get", "create", "update", "delete"],
      ["list", "get", "update"],
    ]);
    const wrong = await call("create_object", { resource: "books", fields: { title: "Emma", price: -1 } });
    expect([wrong.isError, wrong.text]).toEqual([
      true,
      expect.stringMatching(/^400 validation_failed: .*\n- \/price: /s),
    ]);
    const { id, etag } = (await call("create_object", { resource: "books", fields: { title: "Emma", price: 9 } }))
      .structured;
    const changed = await call("update_object", { resource: "books", id, changes: { price: null }, etag });
    const stale = await call("update_object", { resource: "books", id, changes: { price: 1 }, etag });
    expect([stale.isError, stale.text]).toEqual([true, expect.stringMatching(/^412 precondition_failed: /)]);
    const any = await call("update_object", { resource: "books", id, changes: { title: "All" }, etag: "*" });
    expect([any.isError, any.text]).toEqual([true, expect.stringContaining("as it was read")]);
    const read = (await call("get_object", { resource: "books", id })).structured;
    expect([read["object"], read["etag"]]).toMatchObject([{ id, title: "Emma" }, changed.structured["etag"]]);
    const as = await tools(urlOf(served), "reader", true);
    const refused = await as.call("delete_object", { resource: "books", id, etag: read["etag"] });
    expect([refused.isError, refused.text]).toEqual([true, expect.stringMatching(/^403 insufficient_access: /)]);
    const gone = await call("delete_object", { resource: "books", id, etag: read["etag"] });
    expect(gone.structured).toEqual({ deleted: id });
    const unread = await call("set_value", { root_key: "settings", path: ["theme"], value: "blue" });
    expect([unread.isError, unread.text]).toEqual([true, expect.stringMatching(/^412 /)]);
    const theme = (await call("read_value", { root_key: "settings", path: ["theme"] })).structured;
    await call("set_value", { root_key: "settings", path: ["theme"], value: "blue", etag: theme["etag"] });
    expect((await call("read_value", { root_key: "settings", path: ["theme"] })).structured["value"]).toBe("blue");
    const whole = await call("read_value", { root_key: "settings", path: [""] });
    const list = await call("get_object", { resource: "books", id: "" });
    for (const { isError, text } of [whole, list])
      expect([isError, text]).toEqual([true, "A URL can't have an empty key or id"]);
    const outside = await call("read_value", { root_key: "settings", path: ["..", "..", "whoami"] });
    const deleted = await call("delete_object", { resource: "books", id: "..", etag: '"1"' });
    for (const { isError, text } of [outside, deleted])
      expect([isError, text]).toEqual([true, "A URL can't have . or .. as a key or an id"]);
  });

  it("asks again where a value is lost on its way", async () => {
    const answers = ['{"theme":', '{"theme":"red"}'];
    const lossy = createServer((_, response) => {
      response.writeHead(200, { ETag: '"1"', "Content-Length": 15 }).write(answers.shift());
      setImmediate(() => response.destroy());
    });
    await once(lossy.listen(0, "127.0.0.1"), "listening");
    const { call } = await tools(`${at(lossy)}/default/shop`, "model");
    const read = await call("read_value", { root_key: "settings" });
    lossy.close();
    expect([read.structured, answers]).toEqual([{ value: { theme: "red" }, etag: '"1"' }, []]);
  });

  it("follows no redirect, and tells nobody the key", async () => {
    const asked: (string | undefined)[] = [];
    const other = createServer(({ headers }, response) => {
      asked.push(headers.authorization);
      response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const moved = createServer((_, response) => void response.writeHead(302, { Location: at(other) }).end());
    await once(moved.listen(0, "127.0.0.1"), "listening");
    const { call } = await tools(`${at(moved)}/default/shop`, "model");
    const answers = [await call("describe_project"), await call("read_value", { root_key: "settings" })];
    for (const server of [other, moved]) server.close();
    expect([asked, answers.map(({ isError }) => isError)]).toEqual([[], [true, true]]);
    expect(answers.map(({ text }) => text).join()).not.toContain(keyOf("model"));
  });
});
