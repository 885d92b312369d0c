// What those who follow one log are told by their replica's feed, at any moment that they ask.

import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { systemTimers } from "../../../../core/timers.ts";
import type { BatchRead } from "../../../../dataplane/changes/batch.ts";
import { Feed, type FeedDeps } from "../../../../dataplane/changes/feed.ts";
import { Rendered } from "../../../../dataplane/changes/rendered.ts";
import { valueView } from "../../../../dataplane/changes/views.ts";
import type { ChangesRead } from "../../../../dataplane/store/ports/changes.ts";

const project = { namespace: "default", name: "shop", uid: "u" };
const begun = "1-0.00000000";
const position = "2-0.00000000";
const removal: ChangesRead = { outcome: "changes", changes: [{ position, kind: "delete", id: "a", owner: "" }] };

/** Nothing behind the first position until `answer` is called, which answers the read under way. */
function openFeed(): { readonly feed: Feed; readonly answer: () => void } {
  const first = Promise.withResolvers<ChangesRead>();
  const store: FeedDeps["store"] = {
    changesAfter: async (_of, after) => (after === begun ? await first.promise : { outcome: "changes", changes: [] }),
    readObjects: () => Readable.from([]),
    onChanges: () => () => undefined,
  };
  const deps = { store, timers: systemTimers, onFailure: () => undefined };
  return { feed: new Feed(deps, { project, resource: "books" }, begun), answer: () => first.resolve(removal) };
}

it("tells of a change whenever it is asked while that change arrives", async () => {
  const told: (BatchRead | undefined)[] = [];
  const steps = Array.from({ length: 60 }, (_, at) => at);
  for (const step of steps) {
    const { feed, answer } = openFeed();
    const leaving = new AbortController();
    answer();
    for (let count = 0; count < step; count += 1) await undefined;
    const next = feed.next(begun, leaving.signal);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    leaving.abort();
    told.push(await next);
    feed.close();
  }
  expect(told.map((read) => read?.outcome)).toEqual(steps.map(() => "batch"));
});

it("keeps nothing of those who left while nothing changed", async () => {
  const { feed } = openFeed();
  const leaving = Array.from({ length: 5 }, () => new AbortController());
  const told = leaving.map(({ signal }) => feed.next(begun, signal));
  await nextTurn();
  expect(feed.waiting).toBe(5);
  for (const each of leaving) each.abort();
  expect(await Promise.all(told)).toEqual([undefined, undefined, undefined, undefined, undefined]);
  expect(feed.waiting).toBe(0);
  feed.close();
});

it("reads a value again for a batch whose first read failed", async () => {
  let reads = 0;
  const read = async (): Promise<string> => {
    reads += 1;
    if (reads === 1) throw new Error("The store is away");
    return '"blue"';
  };
  const view = valueView({ rootKey: "settings", path: ["colour"], read });
  const { changes } = removal as Extract<ChangesRead, { outcome: "changes" }>;
  const batch = {
    outcome: "batch",
    from: begun,
    end: position,
    changes,
    length: 0,
    rendered: new Rendered(0),
  } as const;
  await expect(view.eventsOf(batch, begun)).rejects.toThrow();
  expect(await view.eventsOf(batch, begun)).toMatchObject([{ name: "put", position }]);
});
