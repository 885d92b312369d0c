// What of an inventory the data plane is told to count for a quota without serving it.

import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { DataEntry, DataInventory } from "../../../../operator/model/data-inventory.ts";
import { withUnserved } from "../../../../operator/stored-data/data-plan.ts";
import { project, withConfig, withLimits, withResource } from "../../../support/http/projects.ts";

const entry = (what: DataEntry["what"], name: string, more: Partial<DataEntry> = {}): DataEntry => ({
  ...{ what, name, uid: `${what} ${name}`, namespaceUid: "namespace 1" },
  ...more,
});
const limited = project("shop", withResource("books"), withLimits({ quota: { objects: 1 } }));

function unservedOf(config: CompiledProject, ...entries: readonly DataEntry[]) {
  const inventory: DataInventory = { policy: "Retain", projectUid: "p", entries };
  return withUnserved(config, inventory).project.unserved;
}

describe("beside what is served", () => {
  it("what was kept and what is to be purged counts, in the order of names, and what is served only once", () => {
    const kept = entry("rootkey", "flags", { retained: true });
    const pending = entry("resource", "authors", { purgeFromRevision: 7 });
    expect(unservedOf(limited, kept, entry("resource", "books"), pending)).toEqual([
      { what: "resource", name: "authors", isPurged: true },
      { what: "rootkey", name: "flags" },
    ]);
  });

  it("a root key counts that has the name of a resource", () => {
    expect(unservedOf(limited, entry("rootkey", "books"))).toEqual([{ what: "rootkey", name: "books" }]);
  });

  it("nothing is told where there is no quota, or nothing else any more", () => {
    expect(unservedOf(project("shop"), entry("resource", "authors", { retained: true }))).toBeUndefined();
    const before = withConfig({ unserved: [{ what: "resource", name: "authors" }] })(limited);
    expect(unservedOf(before, entry("resource", "books"))).toBeUndefined();
    expect(withUnserved(before, undefined).project).not.toHaveProperty("unserved");
  });
});
