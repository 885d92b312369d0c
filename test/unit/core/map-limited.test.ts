import { expect, it } from "vitest";
import { mapLimited } from "../../../core/map-limited.ts";

/** Calls that end when they are told to. */
function calls() {
  const under = new Map<number, PromiseWithResolvers<string>>();
  const started: number[] = [];
  const run = (item: number): Promise<string> => {
    const call = Promise.withResolvers<string>();
    started.push(item);
    under.set(item, call);
    return call.promise;
  };
  return { started, run, end: (item: number) => under.get(item)?.resolve(`#${item}`), call: under.get.bind(under) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it("runs as many at a time as it may, and answers in the order of the items", async () => {
  const { started, run, end } = calls();
  const mapped = mapLimited([1, 2, 3], 2, run);
  expect(started).toEqual([1, 2]);
  end(2);
  await settle();
  expect(started).toEqual([1, 2, 3]);
  end(3);
  end(1);
  expect(await mapped).toEqual(["#1", "#2", "#3"]);
});

it("starts no more once one has failed, and rejects with that when those under way have ended", async () => {
  const { started, run, end, call } = calls();
  let failure: unknown;
  const mapped = mapLimited([1, 2, 3], 2, run).catch((error: unknown) => {
    failure = error;
  });
  call(1)?.reject(new Error("first"));
  await settle();
  expect([started, failure]).toEqual([[1, 2], undefined]);
  end(2);
  await mapped;
  expect([started, failure]).toEqual([[1, 2], new Error("first")]);
});

it.each([1, 8])("lets other work go on between many items that wait for nothing: %i at a time", async (limit) => {
  let eventLoopTurns = 0;
  const count = (): void => {
    eventLoopTurns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const seen = await mapLimited([...Array(1_000).keys()], limit, async () => eventLoopTurns);
  clearImmediate(next);
  expect(seen.at(0)).toBe(0);
  expect(eventLoopTurns).toBeGreaterThanOrEqual(9);
});

it("starts no more when one fails while the others let other work go on", async () => {
  const started: number[] = [];
  const mapped = mapLimited([...Array(200).keys()], 2, async (item) => {
    started.push(item);
    if (item !== 99) return;
    await new Promise((resolve) => process.nextTick(resolve));
    throw new Error("99");
  });
  await expect(mapped).rejects.toThrow("99");
  expect(started.length).toBe(101);
});

it("of nothing is nothing", async () => {
  expect(await mapLimited([], 4, () => Promise.reject(new Error("never called")))).toEqual([]);
});
