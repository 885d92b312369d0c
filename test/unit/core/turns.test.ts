import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createTurns, type TurnsState } from "../../../core/turns.ts";

class Full extends Error {}

describe("turns", () => {
  it("are given in order of arrival, so many at once, and refused beyond the waiting room", async () => {
    const states: TurnsState[] = [];
    const turns = createTurns({
      concurrency: 1,
      maxWaiting: 2,
      refusal: () => new Full(),
      observe: (state) => states.push(state),
    });
    const order: string[] = [];
    await turns.take("shop");
    const waiting = ["first", "second"].map((name) => turns.take("shop").then(() => order.push(name)));
    await expect(turns.take("shop")).rejects.toThrow(Full);
    expect(states.at(-1)).toEqual({ running: 1, waiting: 2 });
    turns.give();
    await turnOfTheLoop();
    expect(order).toEqual(["first"]);
    turns.give();
    await Promise.all(waiting);
    expect(order).toEqual(["first", "second"]);
    turns.give();
    expect(states.at(-1)).toEqual({ running: 0, waiting: 0 });
  });

  it("go round the keys that wait, whoever came first", async () => {
    const turns = createTurns({ concurrency: 1, maxWaiting: 10, refusal: () => new Full() });
    const order: string[] = [];
    await turns.take("loud");
    const waiting = ["loud", "loud", "loud", "quiet"].map((key) => turns.take(key).then(() => order.push(key)));
    for (const _ of waiting) {
      turns.give();
      await turnOfTheLoop();
    }
    expect(order).toEqual(["loud", "quiet", "loud", "loud"]);
  });

  it("are taken from the longest line when the waiting room is full, so that nobody fills it for others", async () => {
    const turns = createTurns({ concurrency: 1, maxWaiting: 3, refusal: () => new Full() });
    await turns.take("loud");
    const loud = ["first", "second", "third"].map((name) => turns.take("loud").then(() => name));
    const last = expect(loud[2]).rejects.toThrow(Full);
    const quiet = turns.take("quiet").then(() => "quiet");
    await last;
    // One each more or less is no reason to send anybody away.
    const another = turns.take("other").then(() => "other");
    await expect(loud[1]).rejects.toThrow(Full);
    await expect(turns.take("quiet")).rejects.toThrow(Full);
    for (let turn = 0; turn < 3; turn += 1) turns.give();
    expect(await Promise.all([loud[0], quiet, another])).toEqual(["first", "quiet", "other"]);
    turns.give();
    await turns.take("loud");
    await expect(Promise.race([turns.take("loud"), turnOfTheLoop("waits")])).resolves.toBe("waits");
  });
});
