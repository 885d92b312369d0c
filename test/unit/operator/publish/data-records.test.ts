import { expect, it } from "vitest";
import type { DataRecord } from "../../../../operator/model/data-record.ts";
import { parseRecord, recordText } from "../../../../operator/publish/data-records.ts";

const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" } as const;
const record: DataRecord = {
  policy: "Delete",
  projectUid: "p",
  entries: [{ ...entry, purgeFromRevision: 5, purgeCause: "p" }],
  deletedProjects: [{ uid: "p0", purgeFromRevision: 3 }],
};
it("a data record is read as it was stored", () => {
  expect(parseRecord(recordText(record))).toEqual(record);
});

it.each(["", "null", "{}", '{"entries":{},"projectUid":"p"}', '{"entries":[]}', "{"])(
  "%j is not a data record",
  (text) => {
    expect(parseRecord(text)).toBeUndefined();
  },
);
