import { expect, it } from "vitest";
import { download } from "../../../../cli/export/download.ts";
import { GrowingExport } from "../../../../cli/export/growing-export.ts";
import { ServerAway, ServiceRefused } from "../../../../cli/service/service.ts";
import { ExportWriter } from "../../../../core/transfer/export-writer.ts";
import { type ExportHead, type ExportItem, errorLine } from "../../../../core/transfer/lines.ts";
import { applied, readExported } from "../../../support/transfer/exported.ts";

const head: ExportHead = {
  exportedAt: "2026-03-01T12:00:00.000Z",
  resources: ["authors", "books"],
  rootKeys: ["flags"],
  projectUid: "a",
  position: "api/books=5-0.0a1b2c3d",
};
const id = (n: number) => `01900000-0000-7000-8000-${String(n).padStart(12, "0")}`;
const text = (n: number, version = 1) => `{"id":"${id(n)}","version":${version},"_metadata":{}}`;
const book = (n: number, version = 1): ExportItem => ({ kind: "object", resource: "books", text: text(n, version) });
const flags = (version: number): ExportItem => ({ kind: "value", rootKey: "flags", text: String(version) });
const changes: ExportItem = { kind: "changes" };

/** An answer with these items, and an end with a position or what stands for one. */
function answer(
  items: readonly ExportItem[],
  { position, error, ...others }: { position?: string; error?: string; projectUid?: string } = {},
): Buffer {
  const writer = new ExportWriter();
  const lines = [writer.head({ ...head, ...others }), writer.items(items)];
  if (position !== undefined) lines.push(writer.end(position));
  if (error !== undefined) lines.push(Buffer.from(errorLine({ code: error, detail: "It is so" })));
  return Buffer.concat(lines);
}

const url = new URL("http://localhost/default/shop/export?_resource=books");

async function downloaded(answers: readonly (Buffer | Error)[], file = new GrowingExport()) {
  const asked: string[] = [];
  const written: Buffer[] = [];
  const next = answers.values();
  const deps = {
    service: {
      async read(to: URL) {
        asked.push(decodeURIComponent(to.search));
        const given = next.next().value ?? new ServerAway("It is away");
        if (given instanceof Error) throw given;
        return new Response(new Uint8Array(given), { headers: { "content-type": "application/x-ndjson" } });
      },
    },
    write: async (bytes: Buffer) => void written.push(bytes),
    pause: async () => undefined,
    note: () => undefined,
    signal: new AbortController().signal,
  };
  const failure = await download(deps, url, file).then(
    () => undefined,
    (error: unknown) => error as Error,
  );
  return { asked, written: Buffer.concat(written), failure };
}

it("makes one file of what several answers bring, each with the rest of the one before", async () => {
  const { asked, written, failure } = await downloaded([
    answer([book(1)]),
    new ServerAway("It is away"),
    answer([book(2), flags(1), changes, book(1, 2)], { error: "store_unavailable" }),
    answer([book(3), flags(2), changes, book(1, 3), { kind: "deleted", resource: "books", id: id(2) }], {
      position: "api/books=9-0.0a1b2c3d",
    }),
  ]);
  expect(failure).toBeUndefined();
  const rest = "&_position=api/books=5-0.0a1b2c3d";
  expect(asked.map((search) => search.replace("?_resource=books", ""))).toEqual([
    "",
    `&_after=books/${id(1)}${rest}`,
    `&_after=books/${id(1)}${rest}`,
    `&_after=books/${id(2)}${rest}`,
  ]);
  const file = readExported(written);
  expect([file.head, file.end.position]).toEqual([head, "api/books=9-0.0a1b2c3d"]);
  expect(applied([file])).toEqual(
    new Map([
      [`books/${id(1)}`, text(1, 3)],
      [`books/${id(3)}`, text(3)],
      ["flags", "2"],
    ]),
  );
});

it("is refused where the service says that it can't go on, or an answer was changed on the way", async () => {
  const gone = await downloaded([answer([book(1)], { error: "position_expired" })]);
  expect([gone.failure, gone.asked.length]).toEqual([expect.any(ServiceRefused), 1]);
  const complete = answer([book(1)], { position: "api/books=9-0.0a1b2c3d" });
  const changed = await downloaded([Buffer.from(complete.toString().replace('"version":1,"_', '"version":2,"_'))]);
  expect(changed.failure).toBeInstanceOf(ServiceRefused);
  expect(changed.failure?.message).toContain("checksum");
});

it("is refused where the rest is of another project, of which nothing is written", async () => {
  const file = new GrowingExport();
  file.begin(head);
  file.add([book(1)]);
  const { written, failure } = await downloaded([answer([book(2)], { projectUid: "b" })], file);
  expect([failure, failure?.message, written.length]).toEqual([
    expect.any(ServiceRefused),
    expect.stringContaining("of another project"),
    0,
  ]);
});

it("ends after several attempts that bring nothing", async () => {
  const { failure, asked } = await downloaded([]);
  expect([failure, asked.length]).toEqual([expect.any(ServerAway), 8]);
});
