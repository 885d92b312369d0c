import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPlanCache, type PlanCache } from "../../../../dataplane/operation/plan-cache.ts";

/** What a plan of a short key takes of the limit, as the bounds say. */
const usual = 2_048 + 2 * 4;

function put(plans: PlanCache<string>, key: string, project = "default/shop", queryLength = 0): void {
  plans.put({ key, targetLength: 0, queryLength }, `plan of ${key}`, { project, generation: plans.generation() });
}

function found(plans: PlanCache<string>, keys: readonly string[]): readonly string[] {
  return keys.filter((key) => plans.find(key) !== undefined);
}

const key = (at: number): string => `k${String(at).padStart(3, "0")}`;
const keys = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, at) => key(from + at));

it("a plan is found by its key, and by no other", () => {
  const plans = createPlanCache<string>();
  put(plans, "k001");
  expect(plans.find("k001")).toBe("plan of k001");
  expect(plans.find("k002")).toBeUndefined();
});

describe("a change", () => {
  it("drops the plans of its project, and leaves those of others", () => {
    const plans = createPlanCache<string>();
    put(plans, "k001");
    put(plans, "k002");
    put(plans, "k003", "default/rival");
    const before = plans.generation();
    plans.drop("default/shop");
    expect(found(plans, ["k001", "k002", "k003"])).toEqual(["k003"]);
    expect(["default/shop", "default/rival"].filter((each) => plans.isCurrent(each, before))).toEqual([
      "default/rival",
    ]);
  });

  it("of a project without plans changes nothing but the generation", () => {
    const plans = createPlanCache<string>();
    put(plans, "k001");
    const before = plans.generation();
    plans.drop("default/other");
    expect(plans.find("k001")).toBeDefined();
    expect(plans.generation()).toBe(before + 1);
  });

  it("while a plan is decided keeps it from being cached, whatever project the change is of", () => {
    for (const project of ["default/shop", "default/rival"]) {
      const plans = createPlanCache<string>();
      const from = { project: "default/shop", generation: plans.generation() };
      plans.drop(project);
      plans.put({ key: "k001", targetLength: 0, queryLength: 0 }, "old", from);
      expect(plans.find("k001")).toBeUndefined();
    }
  });

  it("drops what was kept anew, too, when two requests were decided at once", () => {
    const plans = createPlanCache<string>();
    put(plans, "k001");
    put(plans, "k001");
    plans.drop("default/shop");
    expect(plans.find("k001")).toBeUndefined();
  });
});

describe("memory", () => {
  it("holds as many as the limit says: of those that nobody used, the oldest goes", () => {
    const plans = createPlanCache<string>(10 * usual);
    for (const each of keys(0, 12)) put(plans, each);
    expect(found(plans, keys(0, 12))).toEqual(keys(2, 12));
  });

  it("counts what a plan gives back: forgotten, dropped, replaced", () => {
    const plans = createPlanCache<string>(10 * usual);
    for (let round = 0; round < 50; round += 1) {
      for (const each of keys(0, 10)) put(plans, each, `default/p${round % 3}`);
      plans.forget(key(round % 10));
      plans.drop(`default/p${round % 3}`);
    }
    for (const each of keys(0, 10)) put(plans, each);
    expect(found(plans, keys(0, 10))).toEqual(keys(0, 10));
  });

  it("counts long keys", () => {
    const plans = createPlanCache<string>(10 * usual);
    for (const each of keys(0, 10)) put(plans, each);
    put(plans, `long${"x".repeat(usual)}`);
    expect(found(plans, keys(0, 10))).toEqual(keys(3, 10));
  });

  it.each([
    ["the target", { key: "k999", targetLength: usual, queryLength: 0 }, 2],
    ["the query", { key: "k999", targetLength: 0, queryLength: 4 }, 1 + Math.ceil((4 * 96 + 1_536) / usual)],
    ["each parameter", { key: "a&b&c", targetLength: 0, queryLength: 5 }, 1 + Math.ceil((5 * 96 + 3 * 1_536) / usual)],
  ])("counts %s", (_, shape, expected) => {
    const plans = createPlanCache<string>(10 * usual);
    for (const each of keys(0, 10)) put(plans, each);
    plans.put(shape, "plan", { project: "default/shop", generation: plans.generation() });
    expect(found(plans, keys(0, 10))).toHaveLength(10 - expected);
  });

  it("is not given to a plan that would take more than a part of it, which pushes nothing out", () => {
    const plans = createPlanCache<string>();
    put(plans, "k001");
    put(plans, "k002", "default/shop", 64 * 1024);
    put(plans, "x".repeat(64 * 1024));
    expect(found(plans, ["k001", "k002", "x".repeat(64 * 1024)])).toEqual(["k001"]);
  });

  it("is not taken from plans that are used by a flood of keys that come once", () => {
    const plans = createPlanCache<string>(100 * usual);
    const used = keys(0, 50);
    for (const each of used) put(plans, each);
    for (let at = 0; at < 5_000; at += 1) {
      put(plans, `f${at}`.padEnd(4));
      plans.find(used[at % used.length] as string);
    }
    expect(found(plans, used)).toEqual(used);
  });

  it("is found again after plans went out of use", () => {
    const plans = createPlanCache<string>(10 * usual);
    for (const each of keys(0, 10)) put(plans, each);
    found(plans, keys(0, 10));
    for (const each of keys(10, 20)) {
      put(plans, each);
      plans.find(each);
    }
    expect(found(plans, keys(10, 20))).toHaveLength(10);
  });
});

/** Plans with what is known of each key: its last plan, unless that was forgotten or dropped. */
class Followed {
  readonly plans = createPlanCache<string>(10 * usual);
  readonly last = new Map<string, { readonly plan: string; readonly project: string }>();
  #count = 0;

  keep(of: string, project: string): void {
    this.#count += 1;
    const plan = String(this.#count);
    this.plans.put({ key: of, targetLength: 0, queryLength: 0 }, plan, {
      project,
      generation: this.plans.generation(),
    });
    this.last.set(of, { plan, project });
    expect(this.plans.find(of)).toBe(plan);
  }

  find(of: string): void {
    expect([undefined, this.last.get(of)?.plan]).toContain(this.plans.find(of));
  }

  forget(of: string): void {
    this.plans.forget(of);
    this.last.delete(of);
  }

  drop(dropped: string): void {
    this.plans.drop(dropped);
    for (const [of, { project }] of this.last) if (project === dropped) this.last.delete(of);
  }
}

const someKey = fc.nat({ max: 25 }).map(key);
const someProject = fc.constantFrom("default/shop", "default/rival");
const step: fc.Arbitrary<(followed: Followed) => void> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(someKey, someProject).map(
      ([of, project]) =>
        (followed: Followed) =>
          followed.keep(of, project),
    ),
  },
  { weight: 5, arbitrary: someKey.map((of) => (followed: Followed) => followed.find(of)) },
  { weight: 1, arbitrary: someKey.map((of) => (followed: Followed) => followed.forget(of)) },
  { weight: 1, arbitrary: someProject.map((project) => (followed: Followed) => followed.drop(project)) },
);

it("whatever is kept, found, forgotten and dropped, a plan is the last one of its key, and all fit into the limit", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const followed = new Followed();
      for (const each of steps) each(followed);
      const { plans, last } = followed;
      const left = found(plans, keys(0, 26));
      expect(left.length).toBeLessThanOrEqual(10);
      expect(left.filter((each) => !last.has(each))).toEqual([]);
      // Nothing takes room without being found: once nothing is used any more, there is room for
      // ten others.
      plans.drop("default/shop");
      plans.drop("default/rival");
      for (const each of keys(100, 110)) put(plans, each);
      expect(found(plans, keys(100, 110))).toHaveLength(10);
    }),
  );
});
