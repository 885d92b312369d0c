import { expect, it } from "vitest";
import type { DataRecord } from "../../../../operator/model/data-record.ts";
import { parseRecord, recordText } from "../../../../operator/publish/data-records.ts";

const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" } as const;
const record: DataRecord = {
  policy: "Delete",
  projectUid: "p",
  entries: [{ ...entry, purgeFromRevision: 5, purgeCause: "p" }],
  ended: [{ uid: "p0", purgeFromRevision: 3 }],
};
const stored = {
  policy: "Delete",
  projectUid: "p",
  entries: [{ ...entry, doomedAt: 5, doomedBy: "p" }],
  ended: [{ uid: "p0", doomedAt: 3 }],
};

it("a data record is stored under the names that operators of earlier versions read", () => {
  expect(JSON.parse(recordText(record))).toEqual(stored);
  expect(parseRecord(JSON.stringify(stored))).toEqual(record);
});

it.each(["", "null", "{}", '{"entries":{},"projectUid":"p"}', '{"entries":[]}', "{"])(
  "%j is not a data record",
  (text) => {
    expect(parseRecord(text)).toBeUndefined();
  },
);
