// `jsonplane restore` while clients write the same objects and take the same unique values, and
// where a Project has less room than its backup needs.

import { expect, it } from "vitest";
import { mapLimited } from "../../core/map-limited.ts";
import { idIn } from "../../core/object-id.ts";
import { changed, withLimits, withResource } from "../support/http/projects.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { fillCollection, objectOf, shuffled } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import { anew, backup, count, logged, ofBooks, placeInFolder, restore, store } from "./backed-up-projects.ts";

/** So many that a restore takes a while. */
const many = 3_000;
const bookAt = (n: number) => objectOf(n, { isbn: `"${n}"`, price: "1.5" });

async function stored(): Promise<ReadonlyMap<string, string>> {
  const texts: string[] = [];
  for await (const some of store.scan(logged, {})) texts.push(...some);
  return new Map(texts.map((text) => [idIn(text), text]));
}

it("under writes of clients loses none of theirs, restores the rest, and stores no unique value twice", async () => {
  await anew();
  await fillCollection(store, logged, many, bookAt);
  await backup(placeInFolder());
  const expected = new Map(await stored());
  for (let n = 0; n < many; n += 2) await store.remove(logged, bookAt(n).id, {});
  /** What a client was told to have happened counts. */
  const clients = [
    // Another object takes the unique value, unless the one with it is there.
    async (n: number, id: string): Promise<void> => {
      const taker = objectOf(many + n, { isbn: `"${n}"` });
      if ((await store.create(logged, taker, 1_000_000)).outcome !== "created") return;
      expected.set(taker.id, taker.text);
      expected.delete(id);
    },
    async (n: number, id: string): Promise<void> => {
      const found = await store.read(logged, id, {});
      const update = objectOf(n, { isbn: `"${n}"`, price: "2" });
      if (found && (await store.replace(logged, update, found)).outcome === "replaced") expected.set(id, update.text);
    },
  ] as const;
  const restoring = restore(placeInFolder(), "--projects", "default/shop");
  await eventually(async () => expect(await store.count(logged, {})).toBeGreaterThan(many / 2), { everyMs: 1 });
  const numbers = shuffled(Array.from({ length: many }, (_, n) => n));
  await mapLimited(numbers, 20, async (n) => await clients[n % 4 === 0 ? 0 : 1]?.(n, bookAt(n).id));
  const { error } = await restoring;
  expect(await stored()).toEqual(new Map([...expected].toSorted()));
  // Where a client was first, it says so.
  expect(error).toMatch(
    /^(jsonplane: books\/\S+ is not restored: Another object (has the same `isbn`|with this `id`).*\n)*$/,
  );
  await expectIndexesExact(store, logged, ["user:alice"]);
});

it("stores no more than `maxObjects`, passes quotas by, and says what is left out", async () => {
  await backup(placeInFolder());
  const full = withResource("books", { ...ofBooks, maxObjects: count - 10 });
  await anew((parts) => changed(parts, full, withLimits({ quota: { objects: 5 } })));
  const restored = await restore(placeInFolder(), "--projects", "default/shop");
  expect(restored).toMatchObject({ code: 1, out: expect.stringContaining("251 created, 10 refused") });
  expect(restored.error).toMatch(/is not restored: The resource/);
  expect((await stored()).size).toBe(count - 10);
});
