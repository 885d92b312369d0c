// Objects that are made anew and deleted, again and again, under the name of one whose deletion waits.

import { describe, expect, test } from "vitest";
import { type Deletion, withLater } from "../../../../operator/watch/deletion.ts";
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
    const present = Promise.withResolvers<{ what: "present"; uid: string; createdAt: number }>();
    const read = () => present.promise;
    const guard = new HeldDeletions({ kind: "ApiKey", sink, timers: time.timers, onReadFailed: () => undefined, read });
    guard.upserted(made(1), undefined, true);
    guard.removed(made(1), false);
    for (const number of [2, 3, 4]) {
      guard.upserted(made(number), undefined, false);
      guard.removed(made(number), false);
    }
    guard.upserted(made(5), undefined, false);
    present.resolve({ what: "present", uid: "first", createdAt: 0 });
    await time.advance(0);
    expect(sink.view.get("a/one")).toEqual(made(5));
    expect([guard.held(), guard.isKept("a", "one")]).toEqual([[], false]);
  });
});
