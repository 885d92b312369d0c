import { describe, expect, it } from "vitest";
import { ServerAway, ServiceRefused } from "../../../../cli/service/service.ts";
import { createChangesClient } from "../../../../cli/watch/changes-client.ts";

const url = "https://api.example.org/default/shop/api/books?status=open";

function served(response: () => Response | Promise<Response>, of = url) {
  const sent: { readonly url: string; readonly headers: unknown }[] = [];
  const client = createChangesClient({
    url: new URL(of),
    authorization: async () => "apikey secret",
    signal: new AbortController().signal,
    fetch: async (to, init) => {
      sent.push({ url: String(to), headers: init?.headers });
      return await response();
    },
  });
  return { client, sent };
}

function eventsFrom({ client }: ReturnType<typeof served>) {
  return Array.fromAsync(client.readStream(undefined).events);
}

const problem =
  (status: number, headers = {}) =>
  () =>
    new Response('{"code":"some_code","detail":"Because"}', { status, headers });

describe("requests of a watch", () => {
  it("read a page with exact texts, and take nothing but the cursor of its link", async () => {
    const text =
      '{"items":[{"id":"1","n":12345678901234567890}],"etags":{"1":"\\"x\\""},"links":{"self":"…","next":"https://other.example.net/?_limit=100&_cursor=abc"}}';
    const { client, sent } = served(() => new Response(text, { headers: { "changes-position": "7-0.aa" } }));
    expect(await client.readPage("")).toEqual({
      objects: [{ id: "1", etag: '"x"', text: '{"id":"1","n":12345678901234567890}' }],
      position: "7-0.aa",
      next: "abc",
    });
    await client.readPage("a b");
    expect(sent.map(({ url }) => url)).toEqual([
      `${url}&_cursor=&_limit=100&_etags=true&_count=false`,
      `${url}&_cursor=a%20b&_limit=100&_etags=true&_count=false`,
    ]);
  });

  it("are over where the first page has no position, and begin again where a later one has none", async () => {
    const { client } = served(() => new Response('{"items":[],"etags":{},"links":{}}'));
    await expect(client.readPage("")).rejects.toThrow(ServiceRefused);
    await expect(client.readPage("")).rejects.toThrow("doesn't declare spec.changes");
    await expect(client.readPage("abc")).rejects.toThrow(ServerAway);
  });

  it("ask nobody for a list of what isn't a collection", async () => {
    const { client, sent } = served(() => new Response("{}"), "https://api.example.org/default/shop/json/settings");
    expect(await client.readPage("")).toBeUndefined();
    expect(sent).toEqual([]);
  });

  it("open a stream behind a position, with the credential", async () => {
    const { client, sent } = served(
      () => new Response(": hello\nretry: 7\n\ndata: a\n\n", { headers: { "content-type": "text/event-stream" } }),
    );
    const stream = client.readStream("7-0.aa");
    expect(await Array.fromAsync(stream.events)).toEqual([{ name: "message", data: "a" }]);
    expect(stream.retryMs()).toBe(7);
    expect(sent[0]?.headers).toEqual({
      Accept: "text/event-stream",
      Authorization: "apikey secret",
      "Last-Event-ID": "7-0.aa",
    });
  });

  it.each([400, 401, 403, 404, 406])("are over after %i", async (status) => {
    const opening = eventsFrom(served(problem(status)));
    await expect(opening).rejects.toThrow(ServiceRefused);
    await expect(opening).rejects.toThrow(`answers ${status} some_code: Because`);
  });

  it.each([429, 500, 503])("are made again after %i", async (status) => {
    const opening = eventsFrom(served(problem(status, { "retry-after": "5" })));
    await expect(opening).rejects.toThrow(ServerAway);
    await expect(opening).rejects.toMatchObject({ retryAfterMs: 5_000 });
  });

  it("are made again where nobody answers, and over where something else does", async () => {
    const gone = served(() => Promise.reject(new TypeError("fetch failed", { cause: new Error("refused") })));
    await expect(eventsFrom(gone)).rejects.toThrow(
      new ServerAway("https://api.example.org can't be reached (refused)"),
    );
    const page = served(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
    await expect(eventsFrom(page)).rejects.toThrow("answers with text/html, not with a stream");
  });
});
