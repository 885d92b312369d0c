// The checker of the chaos suite refuses histories that hold exactly one thing which must not be,
// and takes those that hold none.

import { describe, expect, it } from "vitest";
import { checkHistory } from "../../chaos/check/check-history.ts";
import type {
  Access,
  Answered,
  Append,
  Entry,
  Limited,
  ListRead,
  Probe,
  Read,
  Repeat,
  Told,
  Write,
} from "../../chaos/history.ts";

const cell = "object:w0-1";
const register = "register:w0";

type Value = number | null;

function write(value: Value, [from, to]: readonly [number, number], more: Partial<Write> = {}): Write {
  return { kind: "write", cell, value, from, to, outcome: "done", ...more };
}

function read(value: Value, [from, to]: readonly [number, number], more: Partial<Read> = {}): Read {
  return { kind: "read", cell, value, from, to, ...more };
}

function append(value: number, [from, to]: readonly [number, number], more: Partial<Append> = {}): Append {
  return { kind: "append", list: "w0", value, from, to, outcome: "done", ...more };
}

function list(values: readonly number[], [from, to]: readonly [number, number]): ListRead {
  return { kind: "list", list: "w0", values, from, to };
}

function repeat(more: Partial<Repeat>): Repeat {
  return { kind: "repeat", request: "/api/items k0-1", before: "unknown", replayed: true, from: 50, to: 60, ...more };
}

function access(admitted: boolean, from: number): Access {
  return { kind: "access", credential: "key", replica: "r1", admitted, from, to: from + 1 };
}

/** Answers under a limit of two a second, at these milliseconds. */
function limited(passed: boolean, times: readonly number[], retryAfter = 0): readonly Limited[] {
  const limit = { limit: "rate", perSecond: 2, burst: 3, uncounted: "each replica" } as const;
  return times.map((from) => ({ kind: "limited", ...limit, passed, retryAfter, from, to: from + 1 }));
}

const guess = { ...(limited(true, [500])[0] as Limited), limit: "guesses", uncounted: "nothing" } as const;
const refusing = { kind: "refusing", replicas: 2, from: 100, to: 1_100 } as const;

const every200ms = Array.from({ length: 30 }, (_, at) => 1_000 + at * 200);

function told(version: number, more: Partial<Told> = {}): Told {
  return { kind: "told", subscriber: "s", connection: 1, event: "put", id: "i", version, at: version * 10, ...more };
}

function reset(reason: string, isTrimmed = false): Entry {
  return { kind: "reset", subscriber: "s", reason, isTrimmed, at: 50 };
}

const owned = { kind: "made", id: "i", owner: "o0" } as const;

function loss(from: number, to: number): Entry {
  return { kind: "loss", from, to };
}

/** Probes each 100 ms, and an answer next to each. */
function probed(ready: boolean, code: string | undefined, seconds: number): readonly Entry[] {
  return Array.from({ length: seconds * 10 }, (_, at): readonly Entry[] => {
    const probe: Probe = { kind: "probe", replica: "r1", at: at * 100, ready };
    const status = code === undefined ? 200 : 503;
    const answer: Answered = {
      kind: "answer",
      replica: "r1",
      writes: true,
      status,
      code,
      from: at * 100 + 1,
      to: at * 100 + 2,
    };
    return [probe, answer];
  }).flat();
}

function violationsOf(...entries: readonly Entry[]): readonly string[] {
  return checkHistory(entries).violations;
}

const made = write(1, [0, 10]);
const unknown = { outcome: "unknown" } as const;
const never = Number.POSITIVE_INFINITY;

describe("the checker refuses", () => {
  const bad: Readonly<Record<string, readonly [RegExp, readonly Entry[]]>> = {
    "more than a limit's burst and rate": [/rate let 5 through/, [...limited(true, [0, 100, 200, 300, 400])]],
    "more than each replica's burst and rate while nothing can be counted for all": [
      /rate let 13 through/,
      [
        refusing,
        ...limited(
          true,
          Array.from({ length: 40 }, (_, at) => 200 + at),
        ),
      ],
    ],
    "a guess that was compared when nothing could be counted": [/guesses let one through at 500/, [refusing, guess]],
    "a limit that lets nothing through for long": [
      /rate let nothing through for/,
      [...limited(true, [0]), ...limited(false, every200ms, 1)],
    ],
    "a limit that says to wait for longer than it needs": [/rate said to wait 3600 s/, [...limited(false, [0], 3_600)]],
    "an acknowledged write that is gone": [/after 2 was acknowledged/, [made, write(2, [20, 30]), read(1, [40, 50])]],
    "an acknowledged object that is not there": [/read null.* after 1 was acknowledged/, [made, read(null, [20, 30])]],
    "a removed object that is there": [/after null was acknowledged/, [made, write(null, [20, 30]), read(1, [40, 50])]],
    "a value that nobody wrote": [/read 7, which nobody wrote/, [made, read(7, [20, 30])]],
    "a write that was refused and took place": [
      /read 2.* which was refused/,
      [made, write(2, [20, 30], { outcome: "refused" }), read(2, [40, 50])],
    ],
    "a value that was read before it was sent": [/before it was sent/, [made, read(2, [12, 15]), write(2, [20, 30])]],
    "a value that was read and is gone, though nobody was told that it is stored": [
      /after 2 had been read/,
      [made, write(2, [20, never], unknown), read(2, [30, 40]), read(1, [50, 60])],
    ],
    "an earlier write that hides the same client's later one": [
      /register:w0: read 1.* after 2 was acknowledged/,
      [
        write(1, [0, 10], { cell: register }),
        write(2, [20, 30], { cell: register }),
        read(1, [40, 50], { cell: register }),
      ],
    ],
    "an object's update of unknown outcome that comes after a later one": [
      /after 3 was acknowledged/,
      [made, write(2, [20, 30], unknown), write(3, [40, 50]), read(2, [60, 70])],
    ],
    "a loss before the time in which one is allowed": [
      /after 2 was acknowledged/,
      [made, write(2, [20, 30]), loss(40, 90), read(1, [100, 110])],
    ],
    "an acknowledged number that a list lacks": [
      /lacks 1, which was acknowledged/,
      [append(1, [0, 10]), list([], [20, 30])],
    ],
    "a number that a list holds twice": [/holds 1 twice/, [append(1, [0, 10], unknown), list([1, 1], [20, 30])]],
    "a number that nobody added": [/holds 5, which nobody added/, [append(1, [0, 10]), list([1, 5], [20, 30])]],
    "a number that was refused and is there": [
      /holds 1, which was refused/,
      [append(1, [0, 10], { outcome: "refused" }), list([1], [20, 30])],
    ],
    "numbers in another order than they were added in": [
      /holds 1 behind a later one/,
      [append(1, [0, 10]), append(2, [20, 30]), list([2, 1], [40, 50])],
    ],
    "a loss in the middle": [
      /holds what was acknowledged later/,
      [append(1, [0, 10]), append(2, [20, 30]), loss(0, 40), list([2], [50, 60])],
    ],
    "a POST that was acknowledged and is carried out anew when it is repeated": [
      /k0-1, repeated at 50, was carried out anew/,
      [repeat({ before: "done", replayed: false, acknowledged: 10, same: false })],
    ],
    "a POST whose repetition hears another answer than at first": [
      /heard another answer/,
      [repeat({ before: "done", acknowledged: 10, same: false })],
    ],
    "a POST that was refused and had taken place": [/though it was refused/, [repeat({ before: "refused" })]],
    "a page that skips an object that nobody moved": [
      /the object at 1 was skipped/,
      [{ kind: "walk", order: "rank", expected: ["a", "b"], found: ["a", "x"], from: 0, to: 1 }],
    ],
    "pages that repeat an object": [
      /the object at 1 was moved or repeated/,
      [{ kind: "walk", order: "rank", expected: ["a", "b"], found: ["a", "a", "b"], from: 0, to: 1 }],
    ],
    "a revoked credential that is let in eleven seconds later": [
      /let key in, 11000 ms after/,
      [{ kind: "revoked", credential: "key", from: 0, to: 10 }, access(true, 11_010)],
    ],
    "a credential that stands and is refused": [/refused key.* which stands/, [access(true, 0), access(false, 10)]],
    "a replica that says ready and serves nothing": [/said ready.* refused all/, probed(true, "store_unavailable", 6)],
    "a replica that says unready and serves everything": [/said unready.* served all/, probed(false, undefined, 6)],
    "a subscriber that is told of an older write after a newer one": [
      /s, connection 1 was told 1 of i at 10, after 2/,
      [told(2), told(1)],
    ],
    "a subscriber that is told that an object of somebody else is gone": [
      /s was told of a delete of i at 10, which o0 owns/,
      [owned, told(1, { sees: "o1", event: "delete" })],
    ],
    "a subscriber that has to list again though nothing was lost": [/for no reason: lost/, [reset("lost")]],
    "a subscriber whose position is too old for a long log": [/for no reason: expired/, [reset("expired")]],
    "a subscriber that may no longer read": [/for no reason: access/, [loss(0, 40), reset("access", true)]],
    "a subscriber that has something else than a list in the end": [
      /differs from a list in the end: i is missing/,
      [{ kind: "compared", subscriber: "s", differences: ["i is missing"], from: 0, to: 1 }],
    ],
    "an answer that no state explains": [/500/, [{ kind: "unexpected", at: 0, what: "GET /: 500" }]],
  };
  for (const [what, [state, entries]] of Object.entries(bad)) {
    it(what, () => {
      const found = violationsOf(...entries);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatch(state);
    });
  }
});

describe("the checker takes", () => {
  const good: Readonly<Record<string, readonly Entry[]>> = {
    "a limit that gives its burst and its rate": [
      ...limited(true, [0, 10, 20, 520, 1_020, 1_520]),
      ...limited(false, [30, 40], 1),
    ],
    "a rate that each replica keeps by itself while nothing can be counted for all": [
      refusing,
      ...limited(true, [200, 210, 220, 230, 240, 250, 260, 270, 280]),
    ],
    "a guess that was compared when Redis took writes again": [refusing, { ...guess, to: 1_101 }],
    "a limit of which nothing was heard for a while": [...limited(true, [0]), ...limited(false, [9_000], 1)],
    "either value while a write is under way": [
      made,
      write(2, [20, 50]),
      read(1, [25, 30]),
      read(2, [35, 40]),
      read(2, [60, 70]),
    ],
    "a write of unknown outcome that took place, and one that didn't": [
      made,
      write(2, [20, 30], unknown),
      write(3, [40, 50], unknown),
      read(3, [60, 70]),
    ],
    "a write of unknown outcome that is seen long after": [
      made,
      write(2, [20, 30], unknown),
      read(1, [40, 50]),
      read(2, [60, 70]),
    ],
    "a write that is still under way": [made, write(2, [20, never], unknown), read(2, [30, 40])],
    "nothing before the first write and after the removal": [
      read(null, [-20, -10]),
      made,
      write(null, [20, 30]),
      read(null, [40, 50]),
    ],
    "the end of a list that is lost when that is allowed": [
      append(1, [0, 10]),
      append(2, [20, 30]),
      append(3, [40, 50]),
      loss(15, 60),
      list([1, 2], [70, 80]),
      append(4, [90, 95]),
      list([1, 2, 4], [100, 110]),
    ],
    "POSTs that are repeated: acknowledged, refused, and of unknown outcome": [
      repeat({ before: "done", acknowledged: 10, same: true }),
      repeat({ before: "refused", replayed: false }),
      repeat({ replayed: true }),
      repeat({ replayed: false }),
    ],
    "a POST that is carried out anew after a loss that is allowed": [
      loss(0, 20),
      repeat({ before: "done", replayed: false, acknowledged: 10, same: false }),
    ],
    "a revoked credential that is refused": [
      access(true, 0),
      { kind: "revoked", credential: "key", from: 5, to: 10 },
      access(true, 12),
      access(false, 20),
    ],
    "a subscriber that is told again on another connection, of its own objects": [
      owned,
      told(2, { sees: "o0" }),
      told(1, { sees: "o0", connection: 2 }),
      told(2, { sees: "o0", connection: 2 }),
      { kind: "compared", subscriber: "s", differences: [], from: 0, to: 1 },
    ],
    "a subscriber that lists again after a loss, and behind a short log": [
      loss(0, 40),
      reset("lost"),
      reset("expired", true),
    ],
    "a replica that says what is so": [...probed(true, undefined, 6)],
    "a replica that says unready and refuses": [...probed(false, "store_unavailable", 6)],
  };
  for (const [what, entries] of Object.entries(good)) {
    it(what, () => expect(violationsOf(...entries)).toEqual([]));
  }

  it("a loss that is allowed, and counts it", () => {
    const { violations, lost } = checkHistory([
      made,
      write(2, [20, 30]),
      read(2, [32, 33]),
      loss(15, 40),
      read(1, [50, 60]),
    ]);
    expect({ violations, lost }).toEqual({ violations: [], lost: 1 });
  });

  it("a value put with unknown outcome that arrives after a later one, and counts it", () => {
    const at = { cell: register };
    const { violations, late } = checkHistory([
      write(1, [0, 10], { ...at, ...unknown }),
      write(2, [20, 30], at),
      read(1, [40, 50], at),
    ]);
    expect({ violations, late }).toEqual({ violations: [], late: 1 });
  });
});
