import { describe, expect, test } from "vitest";
import { ApiUnreachable } from "../../../../operator/kube/api.ts";
import { customTypes, secretType } from "../../../../operator/kube/objects.ts";
import { eventsOf, linesOf } from "../../../../operator/kube/rest-api.ts";

async function* pieces(bytes: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collected<T>(source: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const each of source) all.push(each);
  return all;
}

async function failureOf(line: string, type = secretType): Promise<Error> {
  const events = collected(eventsOf(linesOf(pieces(Buffer.from(`${line}\n`), 9)), type));
  return events.then(
    () => new Error("it was taken"),
    (error: Error) => error,
  );
}

describe("lines", () => {
  const lines = ["žluťoučký 🐎", "", "日本語", "x".repeat(300)];
  const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));

  test.each([1, 2, 3, 5, 64, 10_000])("are whole whatever the pieces: %i bytes", async (size) => {
    expect(await collected(linesOf(pieces(bytes, size)))).toEqual(lines);
  });

  test("that are too long are refused, and one that just fits isn't", async () => {
    const text = Buffer.from(`${"x".repeat(100)}\n`);
    expect(await collected(linesOf(pieces(text, 10), 100))).toHaveLength(1);
    await expect(collected(linesOf(pieces(text, 10), 89))).rejects.toBeInstanceOf(ApiUnreachable);
  });

  test("that end without an end are refused", async () => {
    await expect(collected(linesOf(pieces(bytes.subarray(0, -1), 7)))).rejects.toBeInstanceOf(ApiUnreachable);
  });
});

describe("events", () => {
  test("are objects and bookmarks", async () => {
    const text = [
      { type: "ADDED", object: { metadata: { name: "one", managedFields: [] } } },
      { type: "DELETED", object: { metadata: { name: "one" } } },
      { type: "BOOKMARK", object: { metadata: { resourceVersion: "7" } } },
    ];
    const bytes = Buffer.from(text.map((event) => `${JSON.stringify(event)}\n`).join(""));
    expect(await collected(eventsOf(linesOf(pieces(bytes, 11)), secretType))).toEqual([
      { type: "ADDED", object: { metadata: { name: "one" } } },
      { type: "DELETED", object: { metadata: { name: "one" } } },
      { type: "BOOKMARK", resourceVersion: "7" },
    ]);
  });

  test("of errors end the watch with their code", async () => {
    const object = { kind: "Status", code: 410, reason: "Expired", message: "too old" };
    const line = JSON.stringify({ type: "ERROR", object });
    expect(await failureOf(line, customTypes.Project)).toMatchObject({
      status: 410,
      reason: "Expired",
      message: "too old",
    });
    expect((await failureOf(line)).message).not.toContain("too old");
  });

  test("that can't be read are refused without a word of what they say", async () => {
    for (const line of ['{"type":"ADDED","object":{"data":{"key":"hunter2"', '{"type":"hunter2"}', '"hunter2"']) {
      const failure = await failureOf(line);
      expect(failure).toBeInstanceOf(ApiUnreachable);
      expect(`${failure.stack} ${failure.cause}`).not.toContain("hunter2");
    }
  });
});
