import { describe, expect, it } from "vitest";
import { planData } from "../../../../operator/finalize/data-plan.ts";
import { maxRefused, readProjectRequests } from "../../../../operator/finalize/deletion-requests.ts";
import { planKeptData, withKept } from "../../../../operator/finalize/kept-data.ts";
import type { DataEntry, DataRecord } from "../../../../operator/model/data-record.ts";
import { project, withResource } from "../../../support/http/projects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const hour = 3_600_000;
const ref = { namespace: "default", name: "shop" };
const usual = { objects: projectObjects("shop", stored("Project", "shop")), namespaceUid: "n", sizes: new Map() };
const books: DataEntry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" };
const recordOf = (...entries: readonly DataEntry[]): DataRecord => ({ policy: "Retain", projectUid: "p", entries });

/** What the record says after a look with this annotation. */
function look(record: DataRecord, annotation: string, at: number, more: object = {}): DataRecord {
  const { requests } = readProjectRequests(annotation, ref, at);
  return withKept(record, { ...usual, publishedRecord: record, requests, now: at, ...more });
}

const inTwoHours = "all@2026-11-23T14:00:00Z";
/** Kept an hour after the annotation was written. */
const keptUnder = (annotation: string) => {
  const served = look(recordOf(books), annotation, now, { parts: project("shop", withResource("books")) });
  const gone = { ...served, entries: [{ ...books, retained: true as const }] };
  return look(gone, annotation, now + hour, { previous: served });
};

describe("a request that was of the future when it was seen", () => {
  it("never means what was kept after it was written, also not when its time has come", () => {
    const kept = keptUnder(inTwoHours);
    const later = look(kept, inTwoHours, now + 3 * hour);
    expect(later.entries[0]?.purgeFromRevision).toBeUndefined();
    expect(look(later, `${inTwoHours},ApiResource/films@2026-11-23T14:30:00Z`, now + 4 * hour)).toEqual(later);
  });

  it("stays refused while the Project is gone, and in the step that publishes it", () => {
    const kept = keptUnder(inTwoHours);
    const gone = look(kept, "", now + 2 * hour, { objects: projectObjects("shop") });
    expect(look(gone, inTwoHours, now + 3 * hour).entries[0]?.purgeFromRevision).toBeUndefined();
    const data = { record: gone, foreignData: false, openPurges: new Set<string>(), adopted: false };
    const input = { ...usual, parts: project("shop"), requests: [], now };
    expect(planData(planKeptData(data, { ...input, objects: projectObjects("shop") }), input)?.refused).toEqual([
      inTwoHours,
    ]);
  });

  it("stays refused where a step does not read the annotation", () => {
    const kept = keptUnder(inTwoHours);
    const unread = look(kept, "", now + 2 * hour, { ignoresAnnotation: true });
    expect(look(unread, inTwoHours, now + 3 * hour).entries[0]?.purgeFromRevision).toBeUndefined();
  });

  it("stands in no other's way, and is forgotten once it is gone from the annotation", () => {
    const kept = keptUnder(inTwoHours);
    expect(look(kept, `${inTwoHours} all@2026-11-23T13:30:00Z`, now + 3 * hour).entries[0]?.purgeFromRevision).toBe(0);
    expect(look(kept, "", now + 3 * hour)).not.toHaveProperty("refused");
  });

  it("has its whole annotation refused where there are very many: their record is bounded", () => {
    const many = Array.from({ length: 3_000 }, (_, at) => `all@${new Date(now + 2 * hour + at).toISOString()}`).join(
      " ",
    );
    const kept = keptUnder(many);
    expect(kept.refused).toHaveLength(maxRefused);
    expect(look(kept, many, now + 3 * hour).entries[0]?.purgeFromRevision).toBeUndefined();
  });
});
