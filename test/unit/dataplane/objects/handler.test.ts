import { expect, it } from "vitest";
import { systemClock } from "../../../../core/clock.ts";
import type { Problem } from "../../../../core/errors/problem.ts";
import { createFairShareLimiter } from "../../../../dataplane/admission/fair-share.ts";
import { anonymous } from "../../../../dataplane/authenticate/caller.ts";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import { createMemoryDirectory } from "../../../../dataplane/config/memory-directory.ts";
import { planObjects } from "../../../../dataplane/objects/plan.ts";
import { route, subjectOf } from "../../../../dataplane/route/route.ts";
import type { Store } from "../../../../dataplane/store/port.ts";
import { project, withResource } from "../../../support/http/projects.ts";

const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const counters = { count: () => undefined };

function planOf(live: LiveProject, path: readonly string[], query = "") {
  const subject = subjectOf(live, route(path));
  if (subject.kind !== "objects") throw new Error("The path names no objects");
  const store = {} as Store;
  const deps = { store, fairShare, quotas: { storeFor: () => store }, countersOf: () => counters };
  const asked = {
    project: live,
    method: "GET",
    operation: "read",
    caller: anonymous,
    base: "http://shop",
    query,
  } as const;
  return planObjects(deps, asked, subject);
}

const fairShare = createFairShareLimiter(systemClock);
const memory = createMemoryDirectory(systemClock);
memory.replace([project("shop", withResource("books", { access: anyone }))]);
const found = memory.directory.project({ namespace: "default", name: "shop" });
if (found instanceof Promise || found.outcome !== "found") throw new Error("The project is not live");
const live = found.value;

it("decides the same for every object of a resource: a plan holds nothing of the id", () => {
  const [first, second] = ["1", "2"].map((id) => planOf(live, ["api", "books", id]));
  expect(first).toEqual(second);
});

it("decides what a list asks for before it is carried out", () => {
  const { list, url } = planOf(live, ["api", "books"], "_limit=3&_offset=2");
  expect(list).toMatchObject({ query: { limit: 3, offset: 2 }, conditions: [], indexPlan: undefined });
  expect(url).toBe("http://shop/api/books");
  expect(() => planOf(live, ["api", "books"], "_limit=none")).toThrow(
    expect.objectContaining({ code: "invalid_parameter" }),
  );
});

it.each(["_fields=title", "_fie%6Cds=title", "_=1&_%66ields=title", "x=%zz&_fields=title"])(
  "reads the fields of one object as a list does, however %s is written",
  (query) => {
    const outcomeOf = (path: readonly string[]) => {
      try {
        const { fields, list } = planOf(live, path, query);
        return fields ?? list?.query.fields;
      } catch (error) {
        return (error as Problem).code;
      }
    };
    expect(outcomeOf(["api", "books", "1"])).toBeDefined();
    expect(outcomeOf(["api", "books", "1"])).toEqual(outcomeOf(["api", "books"]));
  },
);

it.each(["fields=title", "%zz=title", "a=1&a=2", "x=%zz", "_=_fields"])(
  "ignores whatever else a request for one object sends: %s",
  (query) => {
    expect(planOf(live, ["api", "books", "1"], query).fields).toBeUndefined();
  },
);
