import { describe, expect, it } from "vitest";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { createUndeclaredFields } from "../../../../operator/status/apply-status.ts";
import type { Status } from "../../../../operator/status/object-status.ts";

const status = { observedGeneration: 1, conditions: [], effectiveLimits: {}, storedObjects: 3 } as unknown as Status;
const refusal = (...fields: readonly string[]) =>
  new ApiFailure(500, {
    message: `failed to create typed patch object (a/shop; jsonplane.io/v1alpha1, Kind=Project): ${fields
      .map((field) => `.status.${field}: field not declared in schema`)
      .join("\n")}`,
  });

function world() {
  let now = 0;
  const reported: unknown[] = [];
  const undeclared = createUndeclaredFields({
    monotonic: () => now,
    onUndeclared: (...facts) => reported.push(facts),
  });
  return { undeclared, reported, pass: (milliseconds: number) => (now += milliseconds) };
}

describe("a status field that the definition in the cluster does not declare", () => {
  it("is left out from then on, is told once, and is tried again ten minutes later", () => {
    const { undeclared, reported, pass } = world();
    expect(undeclared.withoutUndeclared("Project", status)).toEqual(status);
    expect(undeclared.learnFrom("Project", refusal("effectiveLimits", "usage[0].stored"))).toBe(true);
    const { effectiveLimits: _, ...others } = status as unknown as Readonly<Record<string, unknown>>;
    expect(undeclared.withoutUndeclared("Project", status)).toEqual(others);
    expect(undeclared.learnFrom("Project", refusal("effectiveLimits"))).toBe(false);
    expect(reported).toEqual([["Project", ["effectiveLimits", "usage"]]]);
    pass(600_000);
    expect(undeclared.withoutUndeclared("Project", status)).toEqual(status);
    expect(undeclared.learnFrom("Project", refusal("effectiveLimits"))).toBe(true);
  });

  it("is left out of its own kind only", () => {
    const { undeclared } = world();
    undeclared.learnFrom("Project", refusal("effectiveLimits"));
    expect(undeclared.withoutUndeclared("ApiResource", status)).toEqual(status);
  });
});

it.each([
  ["conditions, without which there is no status", refusal("conditions")],
  ["another failure of the API server", new ApiFailure(500, { message: "etcd is slow" })],
  ["a failure of the connection", new Error(".status.usage: field not declared in schema")],
])("nothing is left out for %s", (_, error) => {
  const { undeclared, reported } = world();
  expect(undeclared.learnFrom("Project", error)).toBe(false);
  expect([undeclared.withoutUndeclared("Project", status), reported]).toEqual([status, []]);
});
