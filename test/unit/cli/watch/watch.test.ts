import { describe, expect, it } from "vitest";
import { type ListedPage, ServerAway, ServiceRefused } from "../../../../cli/service/service.ts";
import type { ChangesClient } from "../../../../cli/watch/changes-client.ts";
import { type WatchOptions, watch } from "../../../../cli/watch/watch.ts";
import type { ServerSentEvent } from "../../../../core/http/server-sent-events.ts";

const put = (id: string, etag: string, position: string): ServerSentEvent => ({
  name: "put",
  id: position,
  data: `{"resource":"books","id":"${id}","etag":"${etag}","object":{"n":1.0}}`,
});
const removed = (id: string, position: string): ServerSentEvent => ({
  name: "delete",
  id: position,
  data: `{"resource":"books","id":"${id}"}`,
});
const bookmark = (position: string): ServerSentEvent => ({ name: "bookmark", id: position, data: "{}" });
const reset = (reason: string): ServerSentEvent => ({ name: "reset", id: "", data: `{"reason":"${reason}"}` });
const page = (position: string, objects: Readonly<Record<string, string>>, next?: string): ListedPage => ({
  position,
  next,
  objects: Object.entries(objects).map(([id, etag]) => ({ id, etag, text: `{"id":"${id}"}` })),
});

type Stream = readonly (ServerSentEvent | Error)[];

/** Plays streams and pages in turn, and ends the watch where there are no more. */
async function played(
  streams: readonly (Stream | Error)[],
  pages: readonly ListedPage[],
  options: Partial<WatchOptions> = {},
) {
  const stop = new AbortController();
  const said = { changes: [] as string[], notes: [] as string[], asked: [] as unknown[], pauses: [] as number[] };
  const [left, leftPages] = [[...streams], [...pages]];
  const client: ChangesClient = {
    readStream(position) {
      said.asked.push(position);
      const stream = left.shift();
      if (stream === undefined) stop.abort();
      if (stream instanceof Error) throw stream;
      return { events: eventsOf(stream ?? []), retryMs: () => undefined };
    },
    async readPage(cursor) {
      said.asked.push({ cursor });
      return leftPages.shift();
    },
  };
  await watch(
    {
      client,
      pause: async (milliseconds) => void said.pauses.push(milliseconds),
      onChange: async ({ kind, name, text = "" }) => void said.changes.push(`${kind} ${name} ${text}`.trim()),
      note: (sentence) => void said.notes.push(sentence),
      random: () => 0,
    },
    { resource: "books", list: false, position: undefined, signal: stop.signal, ...options },
  );
  return said;
}

async function* eventsOf(stream: Stream): AsyncGenerator<ServerSentEvent> {
  for (const event of stream) {
    if (event instanceof Error) throw event;
    yield event;
  }
}

describe("a watch", () => {
  it("goes on from the last event when a stream ends or breaks", async () => {
    const broken = new ServerAway("The stream broke off");
    const said = await played([[bookmark("1")], [put("a", "1", "2"), broken], [removed("a", "3")]], []);
    expect(said.asked).toEqual([undefined, "1", "2", "3"]);
    expect(said.changes).toEqual(['put a {"n":1.0}', "delete a"]);
    expect(said.notes).toEqual(["The stream broke off; trying again"]);
  });

  it("waits longer after each failure, as long as the server says, and tells of the first", async () => {
    const away = new ServerAway("Busy");
    const asking = new ServerAway("Busy", { retryAfterMs: 7_000 });
    const said = await played([[bookmark("1"), away], away, away, asking, [bookmark("2")]], []);
    expect(said.pauses.slice(0, 5)).toEqual([500, 1_000, 2_000, 7_000, 500]);
    expect(said.notes).toEqual(["Busy; trying again"]);
  });

  it("lists all pages and follows from the position of the last", async () => {
    const pages = [page("5", { a: "1" }, "next"), page("6", { b: "1" })];
    const said = await played([[put("b", "2", "7")]], pages, { list: true });
    expect(said.asked).toEqual([{ cursor: "" }, { cursor: "next" }, "6", "7"]);
    expect(said.changes).toEqual(['put a {"id":"a"}', 'put b {"id":"b"}', 'put b {"n":1.0}']);
  });

  it("after a reset tells what differs from what it has told, and says that it reads again", async () => {
    const pages = [page("1", { a: "1", b: "1", c: "1" }), page("5", { a: "1", c: "2", d: "1" })];
    const said = await played([[bookmark("1"), reset("expired")], [removed("d", "6")]], pages, { list: true });
    expect(said.asked).toEqual([{ cursor: "" }, "1", { cursor: "" }, "5", "6"]);
    expect(said.changes.slice(3)).toEqual(['put c {"id":"c"}', 'put d {"id":"d"}', "delete b", "delete d"]);
    expect(said.notes).toEqual(["The position can't be used any more (expired); reading again what is stored"]);
  });

  it("after a reset of what isn't a collection opens the stream anew", async () => {
    const said = await played(
      [
        [put("a", "1", "4"), reset("lost")],
        [put("a", "1", "9"), put("a", "2", "10")],
      ],
      [],
    );
    expect(said.asked).toEqual([undefined, { cursor: "" }, undefined, "10"]);
    expect(said.changes).toEqual(['put a {"n":1.0}', 'put a {"n":1.0}']);
  });

  it("waits longer after each reset, so that a server is not asked in circles", async () => {
    const said = await played([[reset("expired")], [reset("expired")], [reset("expired")]], []);
    expect(said.pauses).toEqual([500, 1_000, 2_000]);
  });

  it("tells once that an object is gone, and anew when it is back", async () => {
    const said = await played([[removed("a", "1")], [removed("a", "1"), put("a", "1", "2"), removed("a", "3")]], []);
    expect(said.changes).toEqual(["delete a", 'put a {"n":1.0}', "delete a"]);
  });

  it("tells of deletions of what it hasn't told only while it doesn't know all", async () => {
    expect((await played([[removed("a", "1")]], [])).changes).toEqual(["delete a"]);
    expect((await played([[removed("b", "2")]], [page("1", { a: "1" })], { list: true })).changes).toEqual([
      'put a {"id":"a"}',
    ]);
  });

  it("ends where it is refused", async () => {
    await expect(played([new ServiceRefused("No")], [])).rejects.toThrow(new ServiceRefused("No"));
    await expect(played([], [], { list: true })).rejects.toThrow("--list is for collections");
  });
});
