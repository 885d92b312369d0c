import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { DataEntry, DataInventory } from "../../../../operator/model/data-inventory.ts";
import { readRequests, requestCause } from "../../../../operator/stored-data/deletion-requests.ts";
import { type RetainedInput, retainedFrom, withRetained } from "../../../../operator/stored-data/retained-data.ts";
import { project, withResource } from "../../../support/http/projects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const earlier = "2026-11-20T00:00:00.000Z";
const before = "2026-11-19T00:00:00Z";
const namespaceUid = "namespace 1";
const all = (time: string) => readRequests(`default/shop@${time}`, now).requests;

function entry(name: string, more: Partial<DataEntry> = {}): DataEntry {
  return { what: "resource", name, uid: `ApiResource ${name}`, namespaceUid, ...more };
}

function kept(entries: readonly DataEntry[], input: Partial<RetainedInput> = {}): readonly DataEntry[] {
  const inventory: DataInventory = { policy: "Retain", projectUid: "p", entries };
  const usual = { objects: projectObjects("shop"), namespaceUid, requests: [], now };
  return withRetained(inventory, { ...usual, ...input }).entries;
}

const serving = (...names: readonly string[]): CompiledProject =>
  project("shop", ...names.map((name) => withResource(name)));
const inventoryOf = (...entries: readonly DataEntry[]): DataInventory => ({
  policy: "Retain",
  projectUid: "p",
  entries,
});

describe("data that are served no more", () => {
  it("say since when, from the first look on that finds them so", () => {
    const [books] = kept([entry("books", { retained: true })]);
    expect(books).toMatchObject({ retained: true, retainedAt: "2026-11-23T12:00:00.000Z" });
    const [later] = kept([books as DataEntry], { now: now + 60_000 });
    expect(later).toEqual(books);
  });

  it("say it also where a Project of another class has taken the name", () => {
    const pending = entry("films", { purgeFromRevision: 7 });
    const { entries } = retainedFrom(inventoryOf(entry("books"), pending), now);
    expect(entries).toEqual([entry("books", { retainedAt: "2026-11-23T12:00:00.000Z" }), pending]);
  });
});

describe("a request to delete", () => {
  const old = entry("books", { retained: true, retainedAt: earlier });

  it("has what was kept until its time purged, and says where it stood", () => {
    const films = entry("films", { retained: true, retainedAt: "2026-11-22T00:00:00.000Z" });
    expect(kept([old, films], { requests: all("2026-11-21T00:00:00Z") })).toEqual([
      { ...old, purgeFromRevision: 0, purgeCause: requestCause },
      films,
    ]);
    expect(kept([old], { requests: all(before) })).toEqual([old]);
  });

  it("never concerns what is served, whatever it says", () => {
    const served = entry("books", { retainedAt: earlier });
    expect(kept([served], { config: serving("books"), requests: all("2026-11-23T11:00:00Z") })).toEqual([served]);
  });

  it("never concerns what ceases to be served with this very look", () => {
    const [books] = kept([entry("books")], {
      requests: all("2026-11-23T11:59:59.999Z"),
    });
    expect(books?.purgeFromRevision).toBeUndefined();
  });

  it("never concerns what is kept after it was made, though the clock of whoever made it is ahead", () => {
    const ahead = all("2026-11-23T12:00:01Z");
    const [books] = kept([entry("books", { retained: true })], { requests: ahead });
    expect(books?.retainedAt).toBe("2026-11-23T12:00:01.001Z");
    expect(kept([books as DataEntry], { requests: ahead, now: now + 60_000 })).toEqual([books]);
  });

  it("waits for a time that is still to come", () => {
    const ahead = all("2026-11-23T12:00:01Z");
    expect(kept([old], { requests: ahead })).toEqual([old]);
    expect(kept([old], { requests: ahead, now: now + 1_000 })[0]?.purgeFromRevision).toBe(0);
  });

  it.each([
    ["of its Project that is gone", []],
    ["that is refused in its Project", [stored("Project", "shop")]],
  ])("leaves alone what an object of this namespace names %s", (_, projects) => {
    const objects = projectObjects("shop", ...projects, stored("ApiResource", "books"));
    expect(kept([old], { objects, requests: all("2026-11-23T11:00:00Z") })).toEqual([{ ...old, guarded: true }]);
  });

  it("never concerns what an object named while it was made, and what is kept since that object went", () => {
    const objects = projectObjects("shop", stored("Project", "shop"), stored("ApiResource", "books"));
    const unserved = entry("books", { retainedAt: earlier });
    const requests = all("2026-11-23T11:00:00Z");
    const [guarded] = kept([unserved], { objects, requests });
    expect(guarded).toEqual({ ...unserved, guarded: true });
    const [gone] = kept([{ ...(guarded as DataEntry), retained: true }], { requests });
    expect(gone).toEqual(entry("books", { retained: true, retainedAt: "2026-11-23T12:00:00.000Z" }));
    expect(kept([gone as DataEntry], { requests, now: now + 60_000 })).toEqual([gone]);
  });

  it("is found among thousands for each of thousands of data without comparing all with all", () => {
    let looks = 0;
    const requests = Array.from({ length: 4_000 }, (_, at) => ({
      text: `all ${at}`,
      project: { namespace: "default", name: "shop" },
      get until() {
        looks += 1;
        return Date.parse(before) - at;
      },
    }));
    const entries = Array.from({ length: 2_000 }, (_, at) => entry(`r-${at}`, { retained: true, retainedAt: earlier }));
    expect(kept(entries, { requests }).every(({ purgeFromRevision }) => purgeFromRevision === undefined)).toBe(true);
    expect(looks).toBeLessThan(10 * requests.length);
  });

  it("leaves alone what an object names by its resourceName", () => {
    const tomes = stored("ApiResource", "tomes", { spec: { resourceName: "books" } });
    expect(kept([old], { objects: projectObjects("shop", tomes), requests: all("2026-11-23T11:00:00Z") })).toEqual([
      { ...old, guarded: true },
    ]);
  });

  it("has data of an earlier namespace purged although an object of this one has their name", () => {
    const foreign = { ...old, namespaceUid: "namespace 0" };
    const objects = projectObjects("shop", stored("Project", "shop"), stored("ApiResource", "books"));
    expect(kept([foreign], { objects, requests: all("2026-11-23T11:00:00Z") })[0]?.purgeFromRevision).toBe(0);
  });

  it("changes nothing of what is to be purged already", () => {
    const pending = { ...old, purgeFromRevision: 7, purgeCause: "ApiResource books" };
    expect(kept([pending], { requests: all("2026-11-23T11:00:00Z") })).toEqual([pending]);
  });
});
