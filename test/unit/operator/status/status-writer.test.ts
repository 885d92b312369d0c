// One object whose status the API server refuses, such as by a policy: all others of its Project have theirs written.

import { beforeEach, expect, it } from "vitest";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { createStatusWriter } from "../../../../operator/status/status-writer.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const names = Array.from({ length: 20 }, (_, at) => `resource-${at}`);
const objects = projectObjects(
  "shop",
  stored("Project", "shop"),
  ...names.map((name): CustomResource => stored("ApiResource", name)),
);
let written: string[];
let refused: string[];
beforeEach(() => {
  written = [];
  refused = [];
});

function write(failure: ApiFailure, isRefused = (_: KubeObject) => true): Promise<void> {
  const clock = manualClock();
  const apply = async (_: unknown, body: unknown): Promise<KubeObject> => {
    const { name } = (body as KubeObject).metadata;
    if (name === "shop" && isRefused(body as KubeObject)) throw failure;
    written.push(name);
    return body as KubeObject;
  };
  const writer = createStatusWriter({
    namespace: "jsonplane-system",
    api: { apply, get: async () => undefined } as Pick<KubeApi, "apply" | "get">,
    clock,
    monotonic: clock.monotonic,
    recorder: { record: () => undefined },
    onUndeclared: () => undefined,
    userField: () => "",
    applyOwnWrite: () => undefined,
    onProgrammed: () => undefined,
    onRefused: ({ metadata }) => refused.push(metadata.name),
    onWritten: () => undefined,
    baseUrlOf: () => "http://api.test/default/shop",
  });
  const why = { reason: "PublishFailed", message: "Redis is away", availability: "unknown" } as const;
  return writer.writeUnpublished(objects, why, undefined);
}

it("writes the others, and reports the refusal", async () => {
  const failure = new ApiFailure(422, { reason: "Invalid", message: "protected" });
  await expect(write(failure)).rejects.toBe(failure);
  expect(written.sort()).toEqual([...names].sort());
});

it("writes a status without a field that the definition in the cluster does not declare", async () => {
  const message = "failed to create typed patch object (): .status.observedGeneration: field not declared in schema";
  const hasField = ({ status }: KubeObject) => "observedGeneration" in (status as object);
  await write(new ApiFailure(500, { message }), hasField);
  expect(written.sort()).toEqual([...names, "shop"].sort());
  // That Redis is away refuses nothing: its changes are still to be served.
  expect(refused).toEqual([]);
});

it("ends where the API server is in trouble: the others would fail as well", async () => {
  const failure = new ApiFailure(503, { reason: "ServiceUnavailable", message: "away" });
  await expect(write(failure)).rejects.toBe(failure);
  expect(written.length).toBeLessThan(names.length);
});
