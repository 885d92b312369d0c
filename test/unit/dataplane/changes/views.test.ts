// What streams that are shown the same of a batch share, so that their number costs little.

import { expect, it } from "vitest";
import type { Batch } from "../../../../dataplane/changes/batch.ts";
import { Rendered } from "../../../../dataplane/changes/rendered.ts";
import { type ObjectsView, objectsView, valueView } from "../../../../dataplane/changes/views.ts";

const text = JSON.stringify({ id: "a", title: "x".repeat(100_000) });
const position = "2-0.00000000";

function batchOf(): Batch {
  const changes = [{ position, kind: "put", id: "a", owner: "apikey:alice", text } as const];
  return {
    outcome: "batch",
    from: "1-0.00000000",
    end: position,
    changes,
    length: text.length,
    positions: new Set([position]),
    seen: position,
    began: 1,
    ended: 2,
    rendered: new Rendered(text.length),
  };
}

/** One for each key, which are shown the same of an object. */
function viewOf(key: string, count = (): void => undefined, shownKey = "all") {
  const shown = (whole: string): string => {
    count();
    return whole;
  };
  const view: ObjectsView = { resource: "books", visible: {}, matches: () => true, shown, shownKey, key };
  return objectsView(view);
}

it("makes and encodes an object once for all filters that find it", () => {
  let made = 0;
  const batch = batchOf();
  const encoded = Array.from({ length: 50 }, (_, at) => viewOf(`${at}`, () => made++).encoded?.(batch) ?? []);
  expect(made).toBe(1);
  const large = encoded.map((pieces) => pieces.find(({ length }) => length > 100_000));
  expect(new Set(large).size).toBe(1);
  expect(Buffer.concat(encoded[0] ?? []).toString()).toMatch(/^event: put\nid: 2-0\.00000000\ndata: \{.*\}\n\n$/);
});

it("keeps a bounded amount of what clients ask to be shown, however many differ", () => {
  const batch = batchOf();
  const views = Array.from({ length: 50 }, (_, at) => viewOf(`${at}`, undefined, `${at}`));
  for (const view of views) expect(view.encoded?.(batch)).not.toEqual([]);
  const kept = views.filter((_, at) => batch.rendered.has(`${at} ${position}`));
  expect(kept.length).toBeLessThan(4);
  expect(kept.length).toBeGreaterThan(0);
});

it("reads a value once for all streams of its path", async () => {
  let reads = 0;
  const read = async () => {
    reads += 1;
    return { text: "true", seen: position };
  };
  const changes = [{ position, kind: "put", id: "", owner: "" } as const];
  const batch = { ...batchOf(), changes, length: 0, rendered: new Rendered(0) };
  for (let streams = 0; streams < 20; streams += 1) {
    await valueView({ rootKey: "settings", path: ["beta"], read }).eventsOf(batch, batch.from);
  }
  expect(reads).toBe(1);
});
