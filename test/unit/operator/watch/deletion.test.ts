// The deletion of an object that waits: whether the object went with its definition, and others that are made anew and deleted, again and
// again, under its name.

import { describe, expect, test } from "vitest";
import type { DefinitionState } from "../../../../operator/watch/definitions.ts";
import { type Deletion, wentWithDefinition, withLater } from "../../../../operator/watch/deletion.ts";
import { HeldDeletions } from "../../../../operator/watch/held-deletions.ts";
import { manualTime } from "../../../support/time/manual-time.ts";
import { served } from "./scripted-reader.ts";
import { sinkRecord } from "./sink-record.ts";

const made = (number: number, more: object = {}) => ({
  ...served("one", number, { uid: `made-${number}`, creationTimestamp: "2026-03-02T00:00:00Z", ...more }),
  spec: { projectRef: { name: "shop" } },
});

describe("objects that were made anew and deleted under one name", () => {
  test("while nobody may read definitions are remembered as the first and the last of them", () => {
    let deletion: Deletion = { reported: made(1), actual: undefined, isHeld: false, asked: 1, later: [] };
    for (let number = 2; number < 1_000; number += 1) {
      const object = made(number);
      const terminating = made(number, { deletionTimestamp: "2026-03-03T00:00:00Z" });
      const changes = [
        { what: "upserted", object, before: undefined, listed: false, asked: number },
        { what: "upserted", object: terminating, before: object, listed: false, asked: number },
        { what: "removed", object, listed: false, asked: number },
      ] as const;
      for (const change of changes) deletion = withLater(deletion, change);
    }
    const uids = deletion.later.map(({ object: { metadata } }) => metadata.uid);
    expect(uids).toEqual([...Array(3).fill("made-2"), ...Array(3).fill("made-999")]);
  });

  test("end with what the last of them is, once the definition is read", async () => {
    const time = manualTime();
    const sink = sinkRecord();
    const present = Promise.withResolvers<DefinitionState>();
    const read = () => present.promise;
    const guard = new HeldDeletions({ kind: "ApiKey", sink, timers: time.timers, onReadFailed: () => undefined, read });
    guard.upserted(made(1), undefined, true);
    guard.removed(made(1), false);
    for (const number of [2, 3, 4]) {
      guard.upserted(made(number), undefined, false);
      guard.removed(made(number), false);
    }
    guard.upserted(made(5), undefined, false);
    present.resolve({ what: "present", uid: "first", createdAt: 0, resourceVersion: "1" });
    await time.advance(0);
    expect(sink.view.get("a/one")).toEqual(made(5));
    expect([guard.held(), guard.isDeletionPending("a", "one")]).toEqual([[], false]);
  });
});

describe("an object that was made in the very second in which the definition that stands was", () => {
  const deletion = (version: number): Deletion => ({
    reported: made(version),
    actual: undefined,
    isHeld: false,
    asked: 1,
    later: [],
  });
  const createdAt = Date.parse("2026-03-02T00:00:00Z");
  const state: DefinitionState = { what: "present", uid: "second", createdAt, resourceVersion: "5" };
  const answer = { state, asked: 1, first: "first", former: "first" };

  test("went with the definition before, unless it was changed after the one that stands", () => {
    expect([4, 5, 6].map((version) => wentWithDefinition(deletion(version), answer))).toEqual([true, true, false]);
  });

  test("did not go with any when no other definition was ever seen", () => {
    expect(wentWithDefinition(deletion(4), { ...answer, first: "second" })).toBe(false);
  });
});
