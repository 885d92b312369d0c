import { describe, expect, it } from "vitest";
import {
  checkMissing,
  presentChildren,
  publishedChildren,
  Suspicions,
} from "../../../../operator/finalize/confirmed-deletions.ts";
import { project, withKey, withResource, withRootKey, withUser } from "../../../support/http/projects.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const none: ReadonlySet<string> = new Set();
const ids = (from: number, to: number): ReadonlySet<string> =>
  new Set(Array.from({ length: to - from }, (_, at) => `uid ${from + at}`));

describe("published objects that are absent", () => {
  it("are gone when they are few", () => {
    const found = checkMissing({ published: ids(0, 100), present: ids(50, 100), deleted: none, suspected: none });
    expect(found).toEqual({ gone: ids(0, 50), waiting: none, missing: none });
  });

  it("are gone when they are most of a few, or the only one", () => {
    for (const [published, present] of [
      [ids(0, 10), ids(9, 10)],
      [ids(0, 1), none],
    ] as const) {
      const found = checkMissing({ published, present, deleted: none, suspected: none });
      expect(found).toEqual({ gone: published.difference(present), waiting: none, missing: none });
    }
  });

  it("wait for a second look when they are all that there was, if only two", () => {
    const first = checkMissing({ published: ids(0, 2), present: none, deleted: none, suspected: none });
    expect(first).toEqual({ gone: none, waiting: ids(0, 2), missing: ids(0, 2) });
    const second = checkMissing({ published: ids(0, 2), present: none, deleted: none, suspected: first.missing });
    expect(second).toEqual({ gone: ids(0, 2), waiting: none, missing: ids(0, 2) });
  });

  it("wait for a second look when they are most of many", () => {
    const published = ids(0, 20);
    const present = ids(11, 20);
    const first = checkMissing({ published, present, deleted: none, suspected: none });
    expect(first).toEqual({ gone: none, waiting: ids(0, 11), missing: ids(0, 11) });
    const second = checkMissing({ published, present, deleted: none, suspected: first.missing });
    expect(second).toEqual({ gone: ids(0, 11), waiting: none, missing: ids(0, 11) });
  });

  it("are forgotten as suspects when they are back", () => {
    const found = checkMissing({ published: ids(0, 20), present: ids(0, 20), deleted: none, suspected: ids(0, 11) });
    expect(found).toEqual({ gone: none, waiting: none, missing: none });
  });

  it("wait by themselves when others have been looked for twice", () => {
    const found = checkMissing({ published: ids(0, 20), present: none, deleted: none, suspected: ids(0, 15) });
    expect(found).toEqual({ gone: ids(0, 15), waiting: ids(15, 20), missing: ids(0, 20) });
  });

  it("are gone at once when their deletion was told, however many", () => {
    const found = checkMissing({ published: ids(0, 20), present: none, deleted: ids(0, 12), suspected: none });
    expect(found).toEqual({ gone: ids(0, 20), waiting: none, missing: none });
    const all = checkMissing({ published: ids(0, 40), present: none, deleted: ids(0, 12), suspected: none });
    expect(all).toEqual({ gone: ids(0, 12), waiting: ids(12, 40), missing: ids(12, 40) });
  });
});

describe("what is suspected to be gone", () => {
  it("is due once it was missing for long enough, however often it is looked for meanwhile", () => {
    let now = 0;
    const suspicions = new Suspicions(5_000, () => now);
    for (const time of [0, 1, 4_999]) {
      now = time;
      expect(suspicions.due()).toEqual(none);
      suspicions.look(ids(0, 20));
    }
    now = 5_000;
    expect(suspicions.due()).toEqual(ids(0, 20));
  });

  it("begins anew for what was there in between, and does not wait for what is missing since later", () => {
    let now = 0;
    const suspicions = new Suspicions(5_000, () => now);
    suspicions.look(ids(0, 20));
    now = 3_000;
    suspicions.look(ids(1, 25));
    now = 5_000;
    expect(suspicions.due()).toEqual(ids(1, 20));
    suspicions.look(ids(0, 25));
    now = 8_000;
    expect(suspicions.due()).toEqual(ids(1, 25));
  });
});

describe("published children", () => {
  it("are those of the configuration and of data that nobody has decided over", () => {
    const parts = project("shop", withResource("books"), withRootKey("flags"), withUser("ann"), withKey("ci"));
    const data = { what: "resource", name: "films", namespaceUid: "n" } as const;
    const entries = [
      { ...data, uid: "open" },
      { ...data, uid: "kept", retained: true as const },
      { ...data, uid: "pending", purgeFromRevision: 5 },
    ];
    const found = publishedChildren(parts, { policy: "Retain", projectUid: "p", entries });
    expect(Object.values(found).map(({ size }) => size)).toEqual([2, 1, 1, 1]);
    expect(found.ApiResource.has("open")).toBe(true);
    expect(publishedChildren(undefined, undefined)).toMatchObject({ ApiKey: none, RootKey: none });
  });

  it("are looked for among all children", () => {
    const objects = projectObjects(
      "shop",
      stored("Project", "shop"),
      stored("ApiKey", "ci"),
      stored("RootKey", "flags"),
    );
    expect(presentChildren(objects)).toEqual(new Set(["ApiKey ci", "RootKey flags"]));
  });
});
