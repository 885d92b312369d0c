import { describe, expect, it } from "vitest";
import { ApiFailure, ApiUnreachable, type KubeApi } from "../../../../operator/kube/api.ts";
import type { Status } from "../../../../operator/status/status-of.ts";
import { differs, writeStatus } from "../../../../operator/status/write-status.ts";
import { stored } from "../../../support/stored-crs.ts";

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

/** Answers every apply alike and keeps what was applied. */
function answering(answer: unknown): { readonly api: Pick<KubeApi, "apply">; readonly applied: unknown[] } {
  const applied: unknown[] = [];
  const api: Pick<KubeApi, "apply"> = {
    async apply(type, object, options) {
      applied.push({ plural: type.plural, object, subresource: options?.subresource });
      if (answer instanceof Error) throw answer;
      return answer as Awaited<ReturnType<KubeApi["apply"]>>;
    },
  };
  return { api, applied };
}

describe("writing a status", () => {
  it("applies it to the status alone, to this very object and whatever its version", async () => {
    const answer = { metadata: {} };
    const { api, applied } = answering(answer);
    expect(await writeStatus(api, stored("Project", "shop"), status)).toBe(answer);
    const metadata = { namespace: "default", name: "shop", uid: "Project shop" };
    const object = { apiVersion: "jsonplane.io/v1alpha1", kind: "Project", metadata, status };
    expect(applied).toEqual([{ plural: "projects", object, subresource: "status" }]);
  });

  it("writes nothing when nothing differs, whatever the order", async () => {
    const { api, applied } = answering(new Error("Nobody asked"));
    const present = {
      children: { rootKeys: 0, apiResources: 1 },
      conditions: [...status.conditions].reverse(),
      observedGeneration: 1,
    };
    expect(await writeStatus(api, stored("Project", "shop", { status: present }), status)).toBeUndefined();
    expect(applied).toEqual([]);
  });

  it.each([
    ["gone", new ApiFailure(404, { reason: "NotFound", message: "no such project" })],
    ["made anew", new ApiFailure(409, { reason: "Conflict", message: "uid mismatch" })],
  ])("leaves an object alone that is %s", async (_, failure) => {
    expect(await writeStatus(answering(failure).api, stored("Project", "shop"), status)).toBeUndefined();
  });

  it.each([
    ["refused", new ApiFailure(403, { reason: "Forbidden", message: "no" })],
    ["cut off", new ApiUnreachable("cut")],
  ])("says that it was %s", async (_, failure) => {
    await expect(writeStatus(answering(failure).api, stored("Project", "shop"), status)).rejects.toBe(failure);
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
