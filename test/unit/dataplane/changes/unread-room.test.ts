// How many bytes of their streams clients may leave unread.

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { createMemoryBudget } from "../../../../dataplane/admission/memory-budgets.ts";
import { createUnreadRoom, mostBytes } from "../../../../dataplane/changes/unread-room.ts";

const shop = {};

it("lets a project's streams take turns where its share is full, in the order of their coming", async () => {
  const room = createUnreadRoom(createMemoryBudget(4_000));
  const { signal } = new AbortController();
  const first = await room.take(shop, 1_000, signal);
  const second = await room.take(shop, 1_000, signal);
  const order: string[] = [];
  const third = room.take(shop, 1_000, signal).then((release) => [order.push("third"), release()]);
  const fourth = room.take(shop, 1_000, signal).then(() => order.push("fourth"));
  await nextTurn();
  expect(order).toEqual([]);
  expect(room.isShort(shop)).toBe(true);
  first();
  // Given back twice, it counts once.
  first();
  await Promise.all([third, fourth]);
  expect(order).toEqual(["third", "fourth"]);
  expect(room.isShort(shop)).toBe(false);
  second();
});

it("forgets a stream that ends while it waits", async () => {
  const room = createUnreadRoom(createMemoryBudget(2_000));
  const leaving = new AbortController();
  const release = await room.take(shop, 1_000, leaving.signal);
  const waiting = room.take(shop, 1_000, leaving.signal);
  leaving.abort();
  (await waiting)();
  expect(room.isShort(shop)).toBe(false);
  release();
  await room.take(shop, 1_000, new AbortController().signal);
});

it("counts a batch that is larger than the room as less, where the project has nothing else in it", async () => {
  const room = createUnreadRoom(createMemoryBudget(4 * mostBytes));
  const { signal } = new AbortController();
  const first = await room.take(shop, 3 * mostBytes, signal);
  let isTaken = false;
  const second = room.take(shop, 3 * mostBytes, signal).then(() => (isTaken = true));
  await nextTurn();
  expect(isTaken).toBe(false);
  first();
  await second;
});
