// Which Projects of a namespace count towards the number that the platform allows.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createProjectPlaces } from "../../../../operator/guard-rails/project-places.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const minute = (n: number): string => `2026-01-01T00:${String(n).padStart(2, "0")}:00Z`;
const project = (name: string, age: number, metadata: object = {}): Project =>
  stored("Project", name, { metadata: { creationTimestamp: minute(age), ...metadata } });
const ref = (name: string) => ({ namespace: "default", name });

function places(max: number | undefined) {
  return createProjectPlaces(() => max);
}

describe("the places of Projects", () => {
  it("go by age, whatever order they come in", () => {
    const all = places(2);
    for (const each of [project("c", 3), project("a", 1), project("b", 2)]) all.put(each);
    expect(["a", "b", "c", "unknown"].map((name) => all.placeOf(ref(name)))).toEqual([1, 2, 3, 4]);
  });

  it("name the one Project that an older one costs its place, and that a deletion gives one", () => {
    const all = places(2);
    expect([...all.put(project("b", 2)), ...all.put(project("c", 3)), ...all.put(project("d", 4))]).toEqual([]);
    expect(all.put(project("a", 1))).toEqual(["default/c"]);
    expect(all.remove(ref("d"))).toEqual([]);
    expect(all.put(project("b", 2, terminating))).toEqual(["default/c"]);
    expect(all.placeOf(ref("c"))).toBe(2);
    expect(all.remove(ref("b"))).toEqual([]);
  });

  it("name nobody where any number is allowed", () => {
    const all = places(undefined);
    for (const each of [project("b", 2), project("a", 1)]) expect(all.put(each)).toEqual([]);
    expect(all.remove(ref("a"))).toEqual([]);
  });

  it("count a Project that came again under its name as new", () => {
    const all = places(2);
    all.put(project("a", 2));
    all.put(project("b", 3));
    expect(all.placeOf(ref("b"))).toBe(2);
    expect(all.put(project("a", 4, { uid: "another" }))).toEqual([]);
    expect([all.placeOf(ref("a")), all.placeOf(ref("b"))]).toEqual([2, 1]);
  });

  it("of one second go to those that came first, whatever their names are", () => {
    const all = places(1);
    expect([...all.put(project("z", 1)), ...all.put(project("y", 1)), ...all.put(project("a", 1))]).toEqual([]);
    expect(["z", "y", "a"].map((name) => all.placeOf(ref(name)))).toEqual([1, 2, 3]);
  });

  it("of one second stay, after a restart, with those that had them: a status says so", () => {
    const all = places(2);
    const reporting = (name: string, reason: string): Project =>
      stored("Project", name, {
        metadata: { creationTimestamp: minute(1) },
        status: { conditions: [{ type: "Ready", status: "True", reason }] },
      });
    for (const each of [
      reporting("a", "NotAllowed"),
      reporting("b", "Ready"),
      project("c", 1),
      reporting("z", "Ready"),
    ]) {
      all.put(each);
    }
    expect(["b", "z", "a", "c"].map((name) => all.placeOf(ref(name)))).toEqual([1, 2, 3, 4]);
  });

  it("are those of a sorted list after any changes, and name exactly who turned", () => {
    // Each change is of one name: it comes with an age, or, if it is there, goes.
    const change = fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 0, max: 59 }));
    fc.assert(fc.property(fc.array(change, { maxLength: 60 }), expectSorted));
  });
});

function expectSorted(changes: readonly (readonly [number, number])[]): void {
  const max = 3;
  const all = places(max);
  const present = new Map<string, Project>();
  const allowed = (): ReadonlySet<string> =>
    new Set(
      [...present.values()]
        .sort(byAge)
        .slice(0, max)
        .map(({ metadata }) => metadata.name),
    );
  for (const [number, age] of changes) {
    const name = `p${number}`;
    const before = allowed();
    const isGone = present.delete(name);
    const made = project(name, age);
    if (!isGone) present.set(name, made);
    const changed = isGone ? all.remove(ref(name)) : all.put(made);
    const turned = [...before.symmetricDifference(allowed())].filter((each) => each !== name);
    expect(changed).toEqual(turned.map((each) => `default/${each}`));
    for (const each of present.keys()) expect(all.placeOf(ref(each)) <= max).toBe(allowed().has(each));
  }
}

/** Of one age, those come first that came first: sorting keeps the order of the map. */
function byAge({ metadata: a }: Project, { metadata: b }: Project): number {
  return a.creationTimestamp.localeCompare(b.creationTimestamp);
}
