import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ServerSentEvent, ServerSentEventParser } from "../../../../core/http/server-sent-events.ts";

function read(...pieces: readonly (string | Uint8Array)[]) {
  const parser = new ServerSentEventParser();
  const encoder = new TextEncoder();
  const events = pieces.flatMap((piece) => parser.push(typeof piece === "string" ? encoder.encode(piece) : piece));
  return { events, lastEventId: parser.lastEventId, retryMs: parser.retryMs };
}

const message = (data: string): ServerSentEvent => ({ name: "message", data });

describe("a parser of server-sent events", () => {
  it.each<readonly [string, string, readonly ServerSentEvent[]]>([
    ["reads name, id and data", "event: put\nid: 1-0\ndata: {}\n\n", [{ name: "put", id: "1-0", data: "{}" }]],
    ["joins lines of data by a line feed", "data: a\ndata:\ndata: b\n\n", [message("a\n\nb")]],
    ["drops one space behind the colon, and no more", "data:a\n\ndata:  b\n\n", [message("a"), message(" b")]],
    ["takes a field without a colon for an empty one", "data\n\ndata\ndata\n\n", [message(""), message("\n")]],
    ["ignores comments and unknown fields", ": quiet\nData: a\nfoo: b\n data: c\ndata: d\n\n", [message("d")]],
    ["ends lines by CR, LF or both", "data: a\r\rdata: b\r\n\r\ndata: c\n\rdata: d\r\n\n", [..."abcd"].map(message)],
    ["drops a byte order mark at the beginning only", "\uFEFFdata: a\n\n\uFEFFdata: b\n\n", [message("a")]],
    ["makes no event without data", "event: put\n\ndata: a\n\n", [message("a")]],
    ["forgets an event that the stream doesn't end", "data: a\n\ndata: b\n", [message("a")]],
    ["names each event anew", "event: put\ndata: a\n\ndata: b\n\n", [{ name: "put", data: "a" }, message("b")]],
    ["reads colons in values", 'data: {"a":"b: c"}\n\n', [message('{"a":"b: c"}')]],
  ])("%s", (_, text, events) => {
    expect(read(text).events).toEqual(events);
  });

  it.each([
    ["keeps the last id", "id: 1\ndata: a\n\ndata: b\n\n", "1"],
    ["takes the id of an event without data", "id: 1\n\n", "1"],
    ["forgets it at an empty one", "id: 1\ndata: a\n\nid\ndata: b\n\n", ""],
    ["ignores one with NUL", "id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n", "1"],
    ["takes none of an event that is cut", "id: 1\ndata: a\n\nid: 2\ndata: b\n", "1"],
  ])("%s", (_, text, lastEventId) => {
    expect(read(text).lastEventId).toBe(lastEventId);
  });

  it("reads when to connect again, in digits only", () => {
    expect(read(": hello\nretry: 1500\n\n").retryMs).toBe(1_500);
    expect(read(": hello\nretry: 1500\nretry: 2s\nretry: -1\nretry:\n\n").retryMs).toBe(1_500);
  });

  it("reads the same wherever the bytes are cut", () => {
    const text =
      '\uFEFF: hello\r\nretry: 10\r\n\r\nevent: put\rid: 1-0.a\rdata: {"x":"é🎉"}\r\rdata: a\ndata: b\n\nid: 2\r\ndata: c\r\n\r\nid\ndata\n\n';
    const bytes = new TextEncoder().encode(text);
    const whole = read(bytes);
    expect(whole.events).toHaveLength(4);
    expect(read(...Array.from(bytes, (_, at) => bytes.subarray(at, at + 1)))).toEqual(whole);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(read(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(whole);
    }
  });

  it("takes a line feed behind CR LF for an empty line, also when all are cut apart", () => {
    expect(read("data: a\r", "\n", "\n").events).toEqual([message("a")]);
  });

  it("reads any text that is cut anywhere as the whole of it", () => {
    const piece = fc.constantFrom(
      "data",
      "id",
      "event",
      "retry",
      ":",
      " ",
      "\r",
      "\n",
      "\r\n",
      "a",
      "7",
      "\0",
      "é",
      "🎉",
      "\uFEFF",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(120), { maxLength: 6 }), (pieces, cuts) => {
        const bytes = new TextEncoder().encode(pieces.join(""));
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const parts = places.slice(1).map((place, at) => bytes.subarray(places[at], place));
        expect(read(...parts)).toEqual(read(bytes));
      }),
    );
  });
});
