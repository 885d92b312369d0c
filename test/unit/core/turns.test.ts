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
    await turns.take();
    const waiting = ["first", "second"].map((name) => turns.take().then(() => order.push(name)));
    await expect(turns.take()).rejects.toThrow(Full);
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
});
