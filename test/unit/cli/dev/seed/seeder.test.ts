// What the store is told when a seed is written.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createSeeder } from "../../../../../cli/dev/seed/seeder.ts";
import { createMemoryDirectory } from "../../../../../dataplane/config/memory-directory.ts";
import { createCollectionPreparer } from "../../../../../dataplane/objects/prepare-collection.ts";
import { createEmbeddedStore } from "../../../../../dataplane/store/embedded/embedded-store.ts";
import { wrapMethods } from "../../../../../dataplane/store/observed-store.ts";
import type { LoggedRef } from "../../../../../dataplane/store/ports/changes.ts";
import { project, withResource, withRootKey } from "../../../../support/http/projects.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";

const ofBooks = { retentionSeconds: 60, maxEntries: 100 };
const ofFlags = { retentionSeconds: 120, maxEntries: 200 };

it("a seed tells the store of the logs that the manifests declare, as requests do", async () => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-seeder-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "books.json"), '[{"title":"A"}]');
  await writeFile(join(folder, "flags.json"), '{"dark":true}');
  const clock = manualClock();
  const embedded = await createEmbeddedStore({ directory: ":memory:", clock });
  onTestFinished(() => embedded.close());
  const written: unknown[] = [];
  const store = wrapMethods(embedded, (name, method) => (...args) => {
    if (name === "create" || name === "initialise") written.push((args[0] as LoggedRef).changes);
    return method(...args);
  });
  const memory = createMemoryDirectory(clock);
  memory.replace([
    project("shop", withResource("books", { changes: ofBooks }), withRootKey("flags", { changes: ofFlags })),
  ]);
  const seeder = createSeeder({
    ...{ path: folder, isAsked: false, directory: memory.directory, store, clock, note: join(folder, "note") },
    preparer: { prepare: () => undefined },
    observe: () => undefined,
  });
  expect((await seeder.seed()).map(({ text }) => text.split(" from ")[0]?.split(" in ")[0])).toEqual([
    "Seeded books with 1 object",
    "Seeded flags with the value",
  ]);
  expect(written).toEqual([ofBooks, ofFlags]);
});

it("a seed with two objects that a unique rule takes for the same stores none, and says why", async () => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-seeder-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "books.json"), '[{"title":"A"},{"title":"B"},{"title":"A"}]');
  const clock = manualClock();
  const store = await createEmbeddedStore({ directory: ":memory:", clock });
  onTestFinished(() => store.close());
  const memory = createMemoryDirectory(clock);
  const unique = [{ fields: [{ name: "title", path: ["title"] }] }];
  const parts = project("shop", withResource("books", { unique }));
  memory.replace([parts]);
  const seeder = createSeeder({
    ...{ path: folder, isAsked: true, directory: memory.directory, store, clock, note: join(folder, "note") },
    preparer: createCollectionPreparer(store, () => undefined),
    observe: () => undefined,
  });
  expect((await seeder.seed()).map(({ text }) => text)).toEqual([
    expect.stringContaining("two objects of books have the same title (spec.unique)"),
  ]);
  expect(await store.count({ project: parts.project, resource: "books" }, {})).toBe(0);
});
