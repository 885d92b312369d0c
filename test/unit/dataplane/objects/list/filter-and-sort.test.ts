// Scans of a real store in memory: what several large ones at once may take from everybody else.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../../core/clock.ts";
import { Problem } from "../../../../../core/errors/problem.ts";
import { createSemaphore, type Semaphore } from "../../../../../core/semaphore.ts";
import { createScanSemaphore, filterAndSort } from "../../../../../dataplane/objects/list/filter-and-sort.ts";
import { createObjectIds } from "../../../../../dataplane/objects/object-ids.ts";
import { createEmbeddedStore } from "../../../../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../../../../dataplane/store/port.ts";

const project = { namespace: "default", name: "shop" };
const newId = createObjectIds(systemClock);

let store: Store;
beforeEach(async () => {
  store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  await fill("large", 40, 256 * 1024);
  await fill("small", 40, 16);
});
afterEach(() => store.close());

async function fill(resource: string, count: number, size: number): Promise<void> {
  for (let made = 0; made < count; made += 1) {
    const { id } = newId();
    const text = `{"id":"${id}","n":${made},"pad":"${"x".repeat(size)}"}`;
    await store.create({ project, resource }, { id, owner: "apikey:ci", text }, 1_000);
  }
}

function scan(resource: string, semaphore: Semaphore, { offset = 0, limit = 2, descending = true } = {}) {
  const collection = { project, resource };
  const order = { keys: [{ name: "n", path: ["n"], descending }], descending };
  const texts = store.scan(collection, {});
  return filterAndSort({ collection, texts, conditions: [], order, offset, limit, counted: true, semaphore });
}

function oneTurn(): Semaphore {
  return createSemaphore({ concurrency: 1, maxWaiting: 0, refusal: () => new Problem("query_busy", "busy") });
}

describe("a scan of more than it keeps", () => {
  beforeEach(() => fill("huge", 140, 256 * 1024));
  const numbers = async (range: { offset: number; limit: number; descending: boolean }) => {
    const result = await scan("huge", oneTurn(), range);
    if ("excess" in result) return result.excess;
    const { count, texts } = result.page;
    return { count, ns: texts.map((text) => (JSON.parse(text) as { n: number }).n) };
  };

  it("shows the same pages, and counts all", async () => {
    expect(await numbers({ offset: 0, limit: 2, descending: true })).toEqual({ count: 140, ns: [139, 138] });
    expect(await numbers({ offset: 30, limit: 2, descending: true })).toEqual({ count: 140, ns: [109, 108] });
    expect(await numbers({ offset: 30, limit: 2, descending: false })).toEqual({ count: 140, ns: [30, 31] });
  });

  it("gives up where the page and what is before it are more", async () => {
    expect(await numbers({ offset: 100, limit: 2, descending: false })).toBe("bytes_kept");
  });
});

describe("a scan says which limit it gave up at", () => {
  async function* batches(count: number, pad: string) {
    const batch = 100;
    for (let made = 0; made < count; made += batch) {
      yield Array.from({ length: batch }, (_, n) => `{"id":"${newId().id}","n":${n},"pad":"${pad}"}`);
    }
  }
  const excessOf = async (count: number, pad: string, limit: number) => {
    const collection = { project, resource: "any" };
    const order = { keys: [{ name: "n", path: ["n"], descending: false }], descending: false };
    const page = { offset: 0, limit, counted: true, semaphore: oneTurn() };
    const result = await filterAndSort({ collection, texts: batches(count, pad), conditions: [], order, ...page });
    return "excess" in result ? result.excess : result.page.texts.length;
  };

  it("of objects, of bytes read, and of bytes kept for the page", async () => {
    expect(await excessOf(10_000, "x", 10)).toBe(10);
    expect(await excessOf(10_100, "x", 10)).toBe("objects");
    const large = "x".repeat(20_000);
    expect(await excessOf(4_000, large, 10)).toBe("bytes_read");
    expect(await excessOf(2_000, large, 1_000)).toBe("bytes_kept");
  });

  it("of bytes also where a character has several", async () => {
    const large = "漢".repeat(7_000);
    expect(await excessOf(3_000, large, 10)).toBe(10);
    expect(await excessOf(4_000, large, 10)).toBe("bytes_read");
    expect(await excessOf(2_000, large, 1_000)).toBe("bytes_kept");
  });
});

describe("a scan that reads much", () => {
  it("waits for its turn or is refused, while small ones go on", async () => {
    const semaphore = oneTurn();
    await semaphore.acquire("shop");
    await expect(scan("large", semaphore)).rejects.toMatchObject({ code: "query_busy" });
    expect(await scan("small", semaphore)).toMatchObject({ page: { count: 40 } });
    semaphore.release();
    expect(await scan("large", semaphore)).toMatchObject({ page: { count: 40 } });
    // Its turn was given back.
    expect(await scan("large", semaphore)).toMatchObject({ page: { count: 40 } });
  });

  it("gives its turn back when the store fails in the middle", async () => {
    const semaphore = oneTurn();
    const thenClosed: Semaphore = {
      ...semaphore,
      async acquire(project) {
        await semaphore.acquire(project);
        await store.close();
      },
    };
    await expect(scan("large", thenClosed)).rejects.toThrow();
    await semaphore.acquire("shop");
  });

  it("leaves the event loop to others within a batch that takes long to judge", async () => {
    let eventLoopTurns = 0;
    let running = true;
    const count = (): void => {
      eventLoopTurns += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const slow = {
      name: "n",
      isExact: false,
      matchesObject() {
        for (const end = performance.now() + 6; performance.now() < end; );
        return true;
      },
    };
    async function* oneBatch() {
      yield Array.from({ length: 20 }, (_, n) => `{"id":"${newId().id}","n":${n}}`);
    }
    const collection = { project, resource: "any" };
    const order = { keys: [], descending: false };
    const page = { offset: 0, limit: 5, counted: true, semaphore: oneTurn() };
    await filterAndSort({ collection, texts: oneBatch(), conditions: [slow], order, ...page });
    running = false;
    expect(eventLoopTurns).toBeGreaterThanOrEqual(20);
  });

  it("leaves the event loop to others between its steps", async () => {
    const semaphore = oneTurn();
    let others = 0;
    let running = true;
    const count = (): void => {
      others += 1;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    await scan("large", semaphore);
    running = false;
    expect(others).toBeGreaterThan(1);
  });
});

it("the refusal says what is true of scans, long pages and ids named by an index", async () => {
  const semaphore = createScanSemaphore();
  const waiting = Array.from({ length: 35 }, () => semaphore.acquire("default/shop"));
  const message = "Too many large lists are in progress; try again";
  await expect(waiting.at(-1)).rejects.toMatchObject({ code: "query_busy", message });
  for (const _ of waiting.slice(1)) semaphore.release();
  await Promise.all(waiting.slice(0, -1));
});
