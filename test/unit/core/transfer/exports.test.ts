import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ExportFault, ExportReader } from "../../../../core/transfer/export-reader.ts";
import { ExportWriter } from "../../../../core/transfer/export-writer.ts";
import { type ExportHead, errorLine, type NumberedItem } from "../../../../core/transfer/lines.ts";

const limits = { maxLineBytes: 1_000, maxDepth: 64 };
const head: ExportHead = {
  exportedAt: "2026-03-01T12:00:00.000Z",
  resources: ["books", "authors"],
  rootKeys: ["settings"],
  position: "api/books=5-0.0a1b2c3d",
};

function idOf(number: number): string {
  return `01900000-0000-7000-8000-${String(number).padStart(12, "0")}`;
}

function book(number: number, data = '"title":"é"'): string {
  return `{"id":"${idOf(number)}",${data},"_metadata":{"created":1,"creator":"a","creator_type":"user"}}`;
}

/** Numbers beyond doubles, names that look like ours or like numbers, and their order. */
const odd = '"9":1,"1":18446744073709551615,"end":true,"__proto__":{"a":-0.0},"\\"\\\\":"\\u0001\\n","resource":"x"';

/** Lines: 1 head, 2 to 4 objects, 5 the value, 6 changes, 7 and 8 what changed, 9 end. */
function written(): Buffer {
  const writer = new ExportWriter();
  return Buffer.concat([
    writer.head(head),
    writer.objects("books", [book(1), book(2, odd)]),
    writer.objects("authors", [book(1)]),
    writer.item({ kind: "value", rootKey: "settings", text: '{"theme":"dark"}' }),
    writer.item({ kind: "changes" }),
    writer.item({ kind: "object", resource: "books", text: book(1, '"title":"new"') }),
    writer.item({ kind: "deleted", resource: "books", id: idOf(2) }),
    writer.end("api/books=9-0.0a1b2c3d"),
  ]);
}

function read(bytes: Uint8Array, pieceBytes = bytes.length): readonly NumberedItem[] {
  const reader = new ExportReader(limits);
  const items: NumberedItem[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) items.push(...reader.push(bytes.subarray(at, at + pieceBytes)));
  reader.finish();
  return items;
}

/** The lines, each with its "\n". */
function linesOf(bytes: Buffer): string[] {
  return bytes.toString().split(/(?<=\n)/);
}

function faultOf(lines: readonly string[]): string {
  try {
    read(Buffer.from(lines.join("")));
  } catch (error) {
    if (error instanceof ExportFault) return error.message;
    throw error;
  }
  throw new Error("The file was read to its end");
}

describe("the file of an export", () => {
  it("has texts byte for byte, whatever the pieces in which it arrives", () => {
    const whole = read(written());
    expect(whole.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    expect(whole[1]?.item).toEqual({ kind: "object", resource: "books", text: book(2, odd) });
    expect(whole[6]?.item).toEqual({ kind: "deleted", resource: "books", id: idOf(2) });
    for (const pieceBytes of [1, 7, 100]) expect(read(written(), pieceBytes)).toEqual(whole);
  });

  it("ends with the number of its lines and the checksum of all before", () => {
    const reader = new ExportReader(limits);
    reader.push(written());
    const before = linesOf(written()).slice(0, -1).join("");
    const sha256 = createHash("sha256").update(before).digest("hex");
    expect(reader.finish()).toEqual({
      head,
      end: { lines: 7, sha256, position: "api/books=9-0.0a1b2c3d" },
    });
  });

  it("is refused with the line where it was cut off, at the end of a line or within one", () => {
    const lines = linesOf(written());
    expect(faultOf([])).toBe("line 1: The file is empty");
    expect(faultOf(lines.slice(0, 4))).toContain("line 5: The file is cut off here");
    expect(faultOf([...lines.slice(0, 4), '{"rootKey":'])).toBe("line 5: The file is cut off in this line");
  });

  it("is refused with the line of an object that is there twice, or in another's place", () => {
    const [first = "", one = "", two = "", three = "", ...others] = linesOf(written());
    const moved = "The object is there twice, or not in its place: lines were doubled or moved";
    expect(faultOf([first, one, one, two, three, ...others])).toBe(`line 3: ${moved}`);
    expect(faultOf([first, two, one, three, ...others])).toBe(`line 3: ${moved}`);
    expect(faultOf([first, three, one, two, ...others])).toBe(`line 3: ${moved}`);
  });

  it("is refused where lines are missing, edited, or changed places among the changes", () => {
    const lines = linesOf(written());
    const without = lines.filter((_line, at) => at !== 2);
    expect(faultOf(without)).toBe("line 8: The file had 7 lines between the first and the last, and has 6");
    const edited = lines.map((line) => line.replace("dark", "DARK"));
    expect(faultOf(edited)).toContain("line 9: The checksum differs");
    const [put = "", deleted = ""] = lines.slice(6, 8);
    expect(faultOf([...lines.slice(0, 6), deleted, put, ...lines.slice(8)])).toContain("line 9: The checksum differs");
  });

  it("is refused where something follows its end, or the end comes first", () => {
    const lines = linesOf(written());
    expect(faultOf([...lines, "\n"])).toBe("line 10: The file goes on behind its last line");
    expect(faultOf([...lines, ...lines])).toBe("line 10: The file goes on behind its last line");
    expect(faultOf(lines.toReversed())).toBe("line 1: The file begins with its last line");
  });

  it("is refused with what the service said where it broke off", () => {
    const error = errorLine({ code: "unknown_resource", detail: "`books` was deleted" });
    const lines = [...linesOf(written()).slice(0, 3), error];
    expect(() => read(Buffer.from(lines.join("")))).toThrow(
      expect.objectContaining({
        line: 4,
        code: "unknown_resource",
        message: expect.stringContaining("`books` was deleted"),
      }),
    );
  });

  it.each([
    ["no JSON", '{"resource":"books"\n', "Expected ',' or '}'"],
    [
      "two members of one name",
      `{"resource":"books","object":${book(3, '"a":1,"a":2')}}\n`,
      "two members with the same name",
    ],
    ["a resource that the head lacks", `{"resource":"orders","object":${book(3)}}\n`, "orders is not in the head"],
    ["a root key that the head lacks", '{"rootKey":"theme","value":1}\n', "theme is not in the head"],
    ["an object without an id", '{"resource":"books","object":{"title":"a"}}\n', "no object, value or deletion"],
    ["a deletion before the changes", `{"resource":"books","deleted":"${idOf(1)}"}\n`, "Nothing is deleted before"],
    ["an unknown member", `{"resource":"books","object":${book(3)},"owner":"a"}\n`, "no object, value or deletion"],
    [
      "more bytes than are allowed",
      `{"resource":"books","object":${book(3, `"a":"${"b".repeat(1_000)}"`)}}\n`,
      "longer than 1000 bytes",
    ],
  ])("is refused with a line that has %s", (_what, line, reason) => {
    const [first = "", one = ""] = linesOf(written());
    const fault = faultOf([first, one, line]);
    expect(fault).toMatch(/^line 3: /);
    expect(fault).toContain(reason);
  });

  it("has what stands before a line that is refused", () => {
    const reader = new ExportReader(limits);
    const before = linesOf(written()).slice(0, 3).join("");
    expect(reader.push(Buffer.from(`${before}no line\n`)).map(({ line }) => line)).toEqual([2, 3]);
    expect(() => reader.finish()).toThrow("line 4: ");
  });

  it("is refused before a line without an end fills the memory", () => {
    const reader = new ExportReader(limits);
    reader.push(Buffer.from("{".padEnd(900, " ")));
    expect(() => reader.push(Buffer.alloc(200, " "))).toThrow("line 1: The line is longer than 1000 bytes");
  });

  it.each([
    ["another file", "a;b;c\n", "This is no file of an export"],
    ["JSON of something else", '{"kind":"List"}\n', '`"jsonplane":"export"` is missing'],
    [
      "a later version",
      '{"jsonplane":"export","version":2}\n',
      "The file has the version 2 of the format; this program reads 1",
    ],
    ["an incomplete head", '{"jsonplane":"export","version":1,"resources":"books"}\n', "not the head of an export"],
  ])("is refused where it is %s", (_what, line, reason) => {
    expect(faultOf([line])).toContain(reason);
  });
});
