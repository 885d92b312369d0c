import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { ApiFailure, ApiUnreachable, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import { applyStatus, differs } from "../../../../operator/status/apply-status.ts";
import type { Status } from "../../../../operator/status/object-status.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const ours = "jsonplane-system/jsonplane-operator";
const condition = {
  type: "Ready",
  status: "True",
  observedGeneration: 1,
  lastTransitionTime: "2026-11-21T12:00:00Z",
  reason: "Ready",
  message: "It is",
} as const;
const status: Status = {
  observedGeneration: 1,
  conditions: [{ ...condition, type: "Accepted" }, condition],
  children: { apiResources: 1, rootKeys: 0 },
};

interface FakeApi {
  readonly api: Pick<KubeApi, "apply" | "get">;
  readonly applied: {
    readonly object: JsonObject;
    readonly plural: string;
    readonly subresource: string | undefined;
  }[];
}

/** Answers applies in order, the last one again and again; `present` is what it has. */
function answering(present: unknown, ...answers: readonly unknown[]): FakeApi {
  const applied: FakeApi["applied"] = [];
  const api: FakeApi["api"] = {
    async apply({ plural }, object, options) {
      const answer = answers[applied.length] ?? answers.at(-1);
      applied.push({ plural, object, subresource: options?.subresource });
      if (answer instanceof Error) throw answer;
      return answer as KubeObject;
    },
    get: async () => present as KubeObject | undefined,
  };
  return { api, applied };
}

const conflict = new ApiFailure(409, { reason: "Conflict", message: "the object has been modified" });
const answer = { metadata: {} };

describe("writing a status", () => {
  it("applies it to the status alone, of this very object", async () => {
    const { api, applied } = answering(undefined, answer);
    expect(await applyStatus(api, stored("Project", "shop"), status, ours)).toBe(answer);
    const metadata = { namespace: "default", name: "shop", uid: "Project shop", resourceVersion: "7" };
    const object = { apiVersion: "jsonplane.io/v1alpha1", kind: "Project", metadata, status };
    expect(applied).toEqual([{ plural: "projects", object, subresource: "status" }]);
  });

  it("leaves an object alone that another installation has taken meanwhile", async () => {
    const taken = stored("Project", "shop", { status: { controller: "elsewhere/jsonplane-operator" } });
    const { api, applied } = answering(taken, conflict, answer);
    const before = stored("Project", "shop", { status: { controller: ours } });
    expect(await applyStatus(api, before, { ...status, controller: ours }, ours)).toBeUndefined();
    expect(applied).toHaveLength(1);
  });

  it("writes nothing when nothing differs, whatever the order", async () => {
    const { api, applied } = answering(undefined, new Error("Nobody asked"));
    const present = {
      children: { rootKeys: 0, apiResources: 1 },
      conditions: [...status.conditions].reverse(),
      observedGeneration: 1,
    };
    expect(await applyStatus(api, stored("Project", "shop", { status: present }), status, ours)).toBeUndefined();
    expect(applied).toEqual([]);
  });

  it("is done again with the present version when somebody edited the object meanwhile", async () => {
    for (const controller of [undefined, ours]) {
      const present = stored("Project", "shop", { metadata: { resourceVersion: "9" }, status: { controller } });
      const { api, applied } = answering(present, conflict, answer);
      expect(await applyStatus(api, stored("Project", "shop"), status, ours)).toBe(answer);
      expect(applied[1]?.object).toMatchObject({ metadata: { resourceVersion: "9" } });
    }
  });

  it("gives up when somebody edits the object all the time", async () => {
    const { api, applied } = answering(stored("Project", "shop"), conflict);
    await expect(applyStatus(api, stored("Project", "shop"), status, ours)).rejects.toBe(conflict);
    expect(applied).toHaveLength(3);
  });

  it.each([
    ["gone", undefined, new ApiFailure(404, { reason: "NotFound", message: "no such project" })],
    ["gone since", undefined, conflict],
    ["made anew", stored("Project", "shop", { metadata: { uid: "another" } }), conflict],
  ])("leaves an object alone that is %s", async (_, present, failure) => {
    const { api, applied } = answering(present, failure);
    expect(await applyStatus(api, stored("Project", "shop"), status, ours)).toBeUndefined();
    expect(applied).toHaveLength(1);
  });

  it.each([
    ["refused", new ApiFailure(403, { reason: "Forbidden", message: "no" })],
    ["cut off", new ApiUnreachable("cut")],
  ])("says that it was %s", async (_, failure) => {
    const { api } = answering(undefined, failure);
    await expect(applyStatus(api, stored("Project", "shop"), status, ours)).rejects.toBe(failure);
  });
});

describe("a status differs", () => {
  const [accepted, ready] = status.conditions;
  it.each([
    ["a condition went away", { ...status, conditions: [ready] }, true],
    ["a condition says something else", { ...status, conditions: [accepted, { ...ready, message: "So it is" }] }, true],
    ["a member is gone", { observedGeneration: 1, conditions: status.conditions }, true],
    [
      "somebody else's condition stands beside",
      { ...status, conditions: [...status.conditions, { type: "Audited" }] },
      false,
    ],
    ["it is the CRD's default", { observedGeneration: -1 }, true],
  ])("or not: %s", (_, present, expected) => {
    expect(differs(status, present as Status)).toBe(expected);
  });
});
