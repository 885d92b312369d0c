// Runs the store's conformance suite against the embedded adapter: in a folder, and in memory.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type ManualClock, manualClock } from "../support/time/manual-clock.ts";
import { describeBucketStore } from "./contract/buckets.ts";
import { describeChangeLogs } from "./contract/changes.ts";
import { describeCounterStore } from "./contract/counters.ts";
import { describeDocumentStore } from "./contract/documents.ts";
import { describeExpiry } from "./contract/expiry.ts";
import type { MakeStore, StoreUnderTest } from "./contract/fixture.ts";
import { describeIdempotencyRecords } from "./contract/idempotency-records.ts";
import { describeObjectStore } from "./contract/objects.ts";
import { describeSessionStore } from "./contract/sessions.ts";

const inFolder: MakeStore = async () => {
  const directory = await mkdtemp(join(tmpdir(), "jsonplane-embedded-"));
  const clock = manualClock();
  const store = await createEmbeddedStore({ directory, clock });
  return {
    ...subjectOf(store, clock),
    async close() {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
};

const inMemory: MakeStore = async () => {
  const clock = manualClock();
  const store = await createEmbeddedStore({ directory: ":memory:", clock });
  return subjectOf(store, clock);
};

function subjectOf(store: Store, clock: ManualClock): StoreUnderTest {
  let off = 0;
  return {
    store,
    clock,
    advance: (milliseconds) => clock.advance(milliseconds),
    async offBy(milliseconds) {
      clock.adjust(milliseconds - off);
      off = milliseconds;
      return store;
    },
    close: () => store.close(),
  };
}

for (const [name, make] of [
  ["embedded store in a folder", inFolder],
  ["embedded store in memory", inMemory],
] as const) {
  describeObjectStore(name, make);
  describeDocumentStore(name, make);
  describeIdempotencyRecords(name, make);
  describeChangeLogs(name, make);
  describeExpiry(name, make);
  describeSessionStore(name, make);
  describeCounterStore(name, make);
  describeBucketStore(name, make);
}
