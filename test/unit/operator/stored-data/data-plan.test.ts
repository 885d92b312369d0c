import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { DataEntry, DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { CustomResource, DeletionPolicy } from "../../../../operator/model/objects.ts";
import { purgeId } from "../../../../operator/stored-data/advance-purges.ts";
import { type DataInput, evaluateData, planData } from "../../../../operator/stored-data/data-plan.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

type Policy = DeletionPolicy | undefined;
type State = "there" | "going" | "gone" | "anew";

const namespaceUid = "namespace 1";

/** The Project with its policy; `anew` = another one of that name. */
function shop(state: State, deletionPolicy: DeletionPolicy): readonly CustomResource[] {
  if (state === "gone") return [];
  const metadata = { ...(state === "going" && terminating), ...(state === "anew" && { uid: "Project shop, anew" }) };
  return [stored("Project", "shop", { metadata, spec: { deletionPolicy } })];
}

function books(state: State, policy: Policy): readonly CustomResource[] {
  if (state === "gone") return [];
  const metadata = {
    ...(state === "going" && terminating),
    ...(state === "anew" && { uid: "ApiResource books, anew" }),
  };
  const spec = policy === undefined ? {} : { deletionPolicy: policy };
  return [stored("ApiResource", "books", { metadata, spec })];
}

function entry(more: Partial<DataEntry> = {}): DataEntry {
  return { what: "resource", name: "books", uid: "ApiResource books", namespaceUid, ...more };
}

function listed(policy: DeletionPolicy, ...entries: readonly DataEntry[]): DataInventory {
  return { policy, projectUid: "Project shop", entries };
}

function evaluated(
  objects: readonly CustomResource[],
  previous: DataInventory | undefined,
  more: Partial<DataInput> = {},
) {
  const common = {
    objects: projectObjects("shop", ...objects),
    namespaceUid,
    adopt: false,
    ordered: new Set<string>(),
  };
  return evaluateData({ ...common, ...(previous && { publishedInventory: previous }), ...more });
}

/** A configuration that serves `books` for its ApiResource of this UID. */
function serving(projectUid: string, ...uids: readonly string[]): CompiledProject {
  const bare = project("shop", withConfig({ uid: projectUid }));
  const resources = uids.map((uid) => ["books", { name: "books", uid }] as const);
  return { ...bare, resources: new Map(resources) as unknown as CompiledProject["resources"] };
}

it("what is kept goes on saying since when until it is served again", () => {
  const since = { retained: true, retainedAt: "2026-11-20T00:00:00.000Z" } as const;
  const kept = evaluated(shop("there", "Retain"), listed("Retain", entry(since)));
  expect(kept.inventory?.entries).toEqual([entry(since)]);
  const objects = projectObjects("shop", ...shop("there", "Retain"), ...books("anew", undefined));
  const config = serving("Project shop", "ApiResource books, anew");
  expect(planData(kept, { objects, config, namespaceUid })?.entries).toEqual([
    entry({ uid: "ApiResource books, anew" }),
  ]);
});

type Fate = "purged" | "kept";

describe("when an ApiResource ends, its data", () => {
  // Its own policy, the Project's, and what becomes of them.
  const table: readonly [Policy, DeletionPolicy, Fate][] = [
    [undefined, "Retain", "kept"],
    [undefined, "Delete", "purged"],
    ["Retain", "Retain", "kept"],
    ["Retain", "Delete", "kept"],
    ["Delete", "Retain", "purged"],
    ["Delete", "Delete", "purged"],
  ];
  const ends: readonly State[] = ["going", "gone", "anew"];
  const cases = ends.flatMap((end) => table.map(([own, inherited, fate]) => ({ end, own, inherited, fate })));

  it.each(cases)("($own in a Project with $inherited, $end) are $fate", ({ end, own, inherited, fate }) => {
    const before = listed(inherited, entry(own === undefined ? {} : { policy: own }));
    const { inventory: after, openPurges } = evaluated([...shop("there", inherited), ...books(end, own)], before);
    const [found] = after?.entries ?? [];
    if (fate === "purged") expect(found).toMatchObject({ purgeFromRevision: 0, purgeCause: "ApiResource books" });
    else expect(found?.purgeFromRevision).toBeUndefined();
    expect(openPurges).toEqual(new Set(fate === "purged" ? ["resource:books"] : []));
    // One that is still there has not left its data yet.
    expect(found?.retained).toBe(fate === "kept" && end !== "going" ? true : undefined);
  });

  it("go by what the spec says now, not by what was published", () => {
    const after = evaluated([...shop("there", "Retain"), ...books("going", "Delete")], listed("Retain", entry()));
    expect(after.inventory?.entries[0]).toMatchObject({ purgeFromRevision: 0, policy: "Delete" });
  });

  it("go, or stay, by what it said when it was seen last, not by what was published", () => {
    const kept = evaluated(shop("there", "Delete"), listed("Delete", entry({ policy: "Delete" })), {
      deleted: books("there", "Retain"),
    });
    expect(kept.inventory?.entries).toEqual([entry({ policy: "Retain", retained: true })]);
    const purged = evaluated(shop("there", "Retain"), listed("Retain", entry()), { deleted: books("there", "Delete") });
    expect(purged.inventory?.entries[0]).toMatchObject({ purgeFromRevision: 0, policy: "Delete" });
  });

  it("stay when its Project said Retain last and went, too", () => {
    const ended = { deleted: shop("there", "Retain"), publishedConfig: serving("Project shop", "ApiResource books") };
    const after = evaluated(books("there", undefined), listed("Delete", entry()), ended);
    expect(after.inventory?.entries).toEqual([entry()]);
    // Told of once more after that was acted on, it decides nothing.
    const again = evaluated(books("there", undefined), listed("Retain", entry()), { deleted: shop("there", "Delete") });
    expect(again.inventory?.entries).toEqual([entry()]);
  });

  it.each<State>(["gone", "anew"])(
    "stay when it is %s and its Project said Retain as it was published, though both changes are seen at once",
    (end) => {
      const after = evaluated([...shop("there", "Delete"), ...books(end, undefined)], listed("Retain", entry()));
      expect(after.inventory).toMatchObject({ policy: "Delete", entries: [{ retained: true }] });
      expect(after.openPurges).toEqual(new Set());
    },
  );

  it("go when it has gone, its Project says Delete, and no inventory says what it said before", () => {
    const more = { publishedConfig: serving("Project shop", "ApiResource books") };
    expect(evaluated(shop("there", "Delete"), undefined, more).openPurges).toEqual(new Set(["resource:books"]));
  });

  it("go when it is being deleted and its Project says Delete by now", () => {
    const after = evaluated([...shop("there", "Delete"), ...books("going", undefined)], listed("Retain", entry()));
    expect(after.inventory?.entries[0]).toMatchObject({ purgeFromRevision: 0, purgeCause: "ApiResource books" });
  });

  it("that were kept stay when the Project's policy becomes Delete later", () => {
    const kept = entry({ retained: true });
    expect(evaluated(shop("there", "Delete"), listed("Retain", kept)).inventory?.entries).toEqual([kept]);
  });
});

describe("when a Project ends, the data of a child", () => {
  // The child's own policy, whether it still exists, and its data when the Project says Delete.
  const cases: readonly { readonly own: Policy; readonly child: State | "kept earlier"; readonly fate: Fate }[] = [
    { own: undefined, child: "there", fate: "purged" },
    { own: undefined, child: "going", fate: "purged" },
    { own: undefined, child: "kept earlier", fate: "purged" },
    { own: "Retain", child: "there", fate: "kept" },
    { own: "Retain", child: "going", fate: "kept" },
    { own: "Retain", child: "kept earlier", fate: "kept" },
    { own: "Delete", child: "there", fate: "purged" },
  ];
  const ends: readonly State[] = ["going", "gone", "anew"];
  it.each(ends.flatMap((end) => cases.map((one) => ({ ...one, end }))))(
    "($own, $child) are $fate once a Project with Delete is $end",
    ({ own, child, fate, end }) => {
      const policy = own === undefined ? {} : { policy: own };
      const before = listed("Delete", entry({ ...policy, ...(child === "kept earlier" && { retained: true }) }));
      const objects = [...shop(end, "Delete"), ...books(child === "kept earlier" ? "gone" : child, own)];
      const [found] = evaluated(objects, before).inventory?.entries ?? [];
      if (fate === "purged") expect(found).toMatchObject({ purgeFromRevision: 0, purgeCause: "Project shop" });
      else expect(found?.purgeFromRevision).toBeUndefined();
    },
  );

  it.each<State>(["going", "gone", "anew"])("stay when it says Retain and is %s, whatever the child says", (end) => {
    for (const own of [undefined, "Retain", "Delete"] as const) {
      const before = listed("Retain", entry(own === undefined ? {} : { policy: own }));
      const after = evaluated([...shop(end, "Retain"), ...books("there", own)], before);
      expect(after.inventory?.entries[0]?.purgeFromRevision).toBeUndefined();
    }
  });

  it("are decided once: a child that drops its own Retain afterwards keeps its data", () => {
    const first = evaluated(books("there", "Retain"), listed("Delete", entry({ policy: "Retain" })));
    const planned = planData(first, { objects: projectObjects("shop"), namespaceUid });
    expect(evaluated(books("there", undefined), planned).inventory?.entries).toEqual([entry()]);
  });

  it("are purged although the Project was made anew at once, with Retain now", () => {
    const objects = [...shop("anew", "Retain"), ...books("there", undefined)];
    const first = evaluated(objects, listed("Delete", entry()));
    expect(first.openPurges).toEqual(new Set(["resource:books"]));
    const config = serving("Project shop, anew");
    const planned = planData(first, { objects: projectObjects("shop", ...objects), namespaceUid, config });
    expect(planned).toMatchObject({ policy: "Retain", projectUid: "Project shop, anew" });
    expect(evaluated(objects, planned).inventory?.entries[0]).toMatchObject({ purgeFromRevision: 0 });
  });
});

describe("while an object is going, data that are to be purged", () => {
  const pending = entry({ purgeFromRevision: 5, purgeCause: "ApiResource books", policy: "Delete" });
  const objects = [...shop("there", "Retain"), ...books("going", "Retain")];

  it("are released when its policy becomes Retain", () => {
    expect(evaluated(objects, listed("Retain", pending)).inventory?.entries).toEqual([entry({ policy: "Retain" })]);
  });

  it("are released when it inherits and its Project's policy becomes Retain", () => {
    const inherited = entry({ purgeFromRevision: 5, purgeCause: "ApiResource books" });
    const after = evaluated([...shop("there", "Retain"), ...books("going", undefined)], listed("Delete", inherited));
    expect(after.inventory?.entries).toEqual([entry()]);
  });

  it("are not released any more once the purge was ordered", () => {
    const ordered = new Set(["ApiResource books:5"]);
    expect(evaluated(objects, listed("Retain", pending), { ordered }).inventory?.entries).toEqual([pending]);
  });

  it("are not released any more once the object has gone", () => {
    expect(evaluated(shop("there", "Retain"), listed("Retain", pending)).inventory?.entries).toEqual([pending]);
  });

  it("keep the revision from which on nobody serves them", () => {
    const still = [...shop("there", "Retain"), ...books("going", "Delete")];
    expect(evaluated(still, listed("Retain", pending)).inventory?.entries[0]?.purgeFromRevision).toBe(5);
  });

  it("of all children are released when a Project that is going gets Retain, but for those that say Delete", () => {
    const byProject = (name: string, more: Partial<DataEntry>): DataEntry =>
      entry({ name, uid: `ApiResource ${name}`, purgeFromRevision: 5, purgeCause: "Project shop", ...more });
    const before = listed("Delete", byProject("books", {}), byProject("films", { policy: "Delete" }));
    const films = stored("ApiResource", "films", { metadata: terminating, spec: { deletionPolicy: "Delete" } });
    const after = evaluated([...shop("going", "Retain"), ...books("there", undefined), films], before);
    expect(after.inventory?.entries).toEqual([
      entry(),
      byProject("films", { policy: "Delete", purgeCause: "ApiResource films" }),
    ]);
  });
});

describe("a Project that was released while it was going", () => {
  it("takes no data along when it has gone then", () => {
    const pending = entry({ purgeFromRevision: 5, purgeCause: "Project shop" });
    const children = books("there", undefined);
    const released = evaluated([...shop("going", "Retain"), ...children], listed("Delete", pending));
    expect(released.openPurges).toEqual(new Set());
    const planned = planData(released, { objects: projectObjects("shop"), namespaceUid });
    expect(evaluated(children, planned).inventory).toEqual(listed("Retain", entry()));
  });
});

describe("data of an earlier namespace", () => {
  const foreign = entry({ namespaceUid: "namespace 0", policy: "Delete" });
  const adopting = stored("Project", "shop", {
    metadata: { uid: "Project shop, anew", annotations: { "jsonplane.io/adopt-data": "true" } },
    spec: { deletionPolicy: "Delete" },
  });

  it.each<State>(["there", "going", "gone", "anew"])(
    "are neither served nor purged nor recorded anew: Project %s",
    (state) => {
      const before = listed("Delete", foreign, entry({ name: "films" }));
      const after = evaluated([...shop(state, "Delete"), ...books("anew", undefined)], before);
      expect(after).toMatchObject({ foreignData: true, adopted: false, openPurges: new Set() });
      expect(after.inventory).toEqual(before);
      expect(planData(after, { objects: projectObjects("shop"), namespaceUid })).toEqual(before);
    },
  );

  it("can't be planned with a configuration that serves them", () => {
    const objects = projectObjects("shop", ...shop("there", "Delete"));
    const after = evaluated(shop("there", "Delete"), listed("Delete", foreign));
    expect(() => planData(after, { objects, namespaceUid, config: serving("Project shop") })).toThrow();
  });

  it("become this namespace's when the Project says so where the platform allows it, and are not purged by the end of the former", () => {
    expect(evaluated([adopting], listed("Delete", foreign)).adopted, "without the platform").toBe(false);
    const objects = { ...projectObjects("shop", adopting), mayAdopt: true as const };
    const after = evaluated([], listed("Delete", foreign), { objects });
    expect(after).toMatchObject({ foreignData: false, adopted: true });
    expect(after.inventory).toEqual({
      policy: "Delete",
      projectUid: "Project shop, anew",
      entries: [entry({ policy: "Delete", retained: true })],
    });
  });

  it("become this namespace's when the operator is told to adopt all", () => {
    expect(evaluated(shop("anew", "Retain"), listed("Delete", foreign), { adopt: true }).adopted).toBe(true);
  });

  it("wait for a Project that can say so", () => {
    expect(evaluated(books("there", undefined), listed("Delete", foreign), { adopt: true }).foreignData).toBe(true);
  });

  it("are purged by their policy when the namespace has gone and none is there", () => {
    const after = evaluateData({
      objects: projectObjects("shop"),
      publishedInventory: listed("Delete", foreign),
      adopt: false,
      ordered: new Set(),
    });
    expect(after.inventory?.entries[0]).toMatchObject({ purgeFromRevision: 0 });
  });

  it("that were to be purged with it still are, and who comes next waits", () => {
    const pending = entry({ namespaceUid: "namespace 0", purgeFromRevision: 5, purgeCause: "Project shop" });
    const after = evaluated([...shop("anew", "Retain"), ...books("anew", undefined)], listed("Retain", pending));
    expect(after).toMatchObject({ foreignData: false, openPurges: new Set(["resource:books"]) });
    expect(after.inventory?.entries).toEqual([pending]);
  });
});

describe("the inventory", () => {
  const there = [...shop("there", "Delete"), ...books("there", "Retain")];
  const objects = projectObjects("shop", ...there);

  const config = serving("Project shop", "ApiResource books");
  const entriesServed = (before: DataInventory | undefined) =>
    planData(evaluated(there, before), { objects, namespaceUid, config })?.entries;

  it("has what is served, with the policies of now", () => {
    expect(entriesServed(undefined)).toEqual([entry({ policy: "Retain", startedEmpty: true })]);
  });

  it("goes on saying of an object that it began empty, as long as that object is served", () => {
    const began = { policy: "Retain", startedEmpty: true } as const;
    expect(entriesServed(listed("Delete", entry(began)))).toEqual([entry(began)]);
  });

  it("passes kept data on to the object that serves them again", () => {
    const before = entry({ uid: "an earlier one", startedEmpty: true, retained: true });
    expect(entriesServed(listed("Delete", before))).toEqual([entry({ policy: "Retain" })]);
  });

  it("keeps the data of an object that is broken and was served once", () => {
    expect(evaluated(there, listed("Delete", entry())).inventory?.entries).toEqual([entry({ policy: "Retain" })]);
  });

  it("refuses a configuration that serves what is to be deleted", () => {
    const after = evaluated(there, listed("Delete", entry({ uid: "an earlier one", policy: "Delete" })));
    expect(() => planData(after, { objects, namespaceUid, config })).toThrow(/resource:books/);
  });

  it("takes what is published and on no inventory for kept until somebody says otherwise", () => {
    const after = evaluated(shop("there", "Retain"), undefined, {
      publishedConfig: serving("Project shop", "ApiResource books"),
    });
    expect(after.inventory?.entries).toEqual([entry({ retained: true })]);
  });

  it("is gone when nothing is stored or served any more", () => {
    expect(
      planData(evaluated([], listed("Retain")), { objects: projectObjects("shop"), namespaceUid }),
    ).toBeUndefined();
    expect(planData(evaluated([], undefined), { objects: projectObjects("shop"), namespaceUid })).toBeUndefined();
  });

  it("is the same in whatever order things come", () => {
    const [a, b] = [entry({ name: "a", retained: true }), entry({ name: "b", retained: true })];
    const plan = (...entries: readonly DataEntry[]) =>
      planData(evaluated([], listed("Retain", ...entries)), { objects: projectObjects("shop"), namespaceUid });
    expect(JSON.stringify(plan(b, a))).toBe(JSON.stringify(plan(a, b)));
  });
});

const policies = fc.constantFrom<Policy>(undefined, "Retain", "Delete");
const states = fc.constantFrom<State>("there", "going", "gone", "anew");
const steps = fc.record({
  shop: states,
  shopPolicy: fc.constantFrom<DeletionPolicy>("Retain", "Delete"),
  books: states,
  booksPolicy: policies,
});

type Step = typeof steps extends fc.Arbitrary<infer S> ? S : never;

/** One look at the state of a step, checked; the inventory after it. */
function look(step: Step, known: DataInventory | undefined, isOrdered: boolean): DataInventory | undefined {
  const objects = [...shop(step.shop, step.shopPolicy), ...books(step.books, step.booksPolicy)];
  const before = known?.entries[0];
  const ordered = new Set(isOrdered && before?.purgeFromRevision !== undefined ? [purgeId(before)] : []);
  const after = evaluated(objects, known, { ordered });
  const found = after.inventory?.entries[0];
  const isThere = step.books === "there" || step.books === "going";
  const policy = isThere ? step.booksPolicy : before?.policy;
  if (policy === "Retain" && before?.purgeFromRevision === undefined) expect(found?.purgeFromRevision).toBeUndefined();
  if (ordered.size > 0) expect(found).toEqual(before);
  expect(evaluated(objects, after.inventory, { ordered }).inventory).toEqual(after.inventory);
  return planData(after, { objects: projectObjects("shop", ...objects), namespaceUid });
}

describe("over any history", () => {
  it("Retain keeps, an ordered purge is final, and a second look changes nothing", () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 6 }), fc.boolean(), (history, isOrdered) => {
        let known: DataInventory | undefined = listed("Retain", entry());
        for (const step of history) known = look(step, known, isOrdered);
      }),
      { numRuns: countForTier(500) },
    );
  });
});
