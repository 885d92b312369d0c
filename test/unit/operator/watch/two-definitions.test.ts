// A definition goes while objects are held that went with one before it: each of the two holds is confirmed by itself.

import { expect, test } from "vitest";
import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { DefinitionState } from "../../../../operator/watch/definitions.ts";
import { HeldDeletions } from "../../../../operator/watch/held-deletions.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { served } from "./scripted-reader.ts";
import { sinkRecord } from "./sink-record.ts";

const made = (name: string, version: number, more: object): KubeObject => ({
  ...served(name, version, { uid: `${name}-${version}`, ...more }),
  spec: { projectRef: { name: "shop" } },
});
const standing = (uid: string): DefinitionState => ({
  what: "present",
  uid,
  createdAt: Date.parse("2026-01-01"),
  resourceVersion: "1",
});

test("objects are held by the definition that they went with, and released by it alone", async () => {
  const time = manualTime();
  const sink = sinkRecord();
  let state = standing("first");
  const guard = new HeldDeletions({
    kind: "ApiKey",
    sink,
    timers: time.timers,
    onReadFailed: () => undefined,
    read: async () => state,
  });
  const [one, two] = [made("one", 1, { creationTimestamp: "2026-01-02" }), made("two", 2, {})];
  for (const object of [one, two]) guard.upserted(object, undefined, true);
  guard.refresh();
  await time.advance(0);
  const lose = async (uid: string, ...objects: readonly KubeObject[]): Promise<void> => {
    state = { ...standing(uid), what: "terminating" } as DefinitionState;
    for (const object of objects) guard.removed(object, false);
    await time.advance(0);
  };
  await lose("first", one, two);
  expect(guard.held().map(({ definition, projects }) => [definition, projects.length])).toEqual([["first", 2]]);
  state = standing("second");
  const again = made("one", 3, { creationTimestamp: "2026-01-03" });
  guard.upserted(again, undefined, false);
  await time.advance(0);
  await lose("second", again);
  const holds = () => guard.held().map(({ definition, projects }) => [definition, projects.length]);
  expect(holds().sort()).toEqual([
    ["first", 1],
    ["second", 1],
  ]);
  guard.release("first");
  expect([holds(), sink.view.has("a/one"), sink.view.has("a/two")]).toEqual([[["second", 1]], true, false]);
  guard.release("second");
  expect([holds(), sink.view.has("a/one")]).toEqual([[], false]);
});
