// Marks against a plain sorted array, over random additions and removals.

import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createRankCheckpoints,
  type RankCheckpoints,
} from "../../../../../dataplane/store/embedded/rank-checkpoints.ts";
import { schemaSteps } from "../../../../../dataplane/store/embedded/schema.ts";
import { compareEncoded } from "../../../../../dataplane/store/order.ts";
import { countForTier } from "../../../../support/time/test-tier.ts";

interface Entry {
  readonly value: string;
  readonly id: string;
}

const list = { ordering: 1, owner: 2 };
/** Lists of others, before and behind. */
const neighbours = [
  { ordering: 1, owner: 1 },
  { ordering: 1, owner: 3 },
  { ordering: 2, owner: 2 },
];

class Model {
  readonly checkpoints: RankCheckpoints;
  readonly #database = new DatabaseSync(":memory:");
  #entries: readonly Entry[] = [];

  constructor(spacing: number) {
    for (const step of schemaSteps) this.#database.exec(step);
    this.checkpoints = createRankCheckpoints(this.#database, spacing);
    for (const { ordering, owner } of neighbours) this.#insert(ordering, owner, { value: "b", id: "other" });
  }

  get length(): number {
    return this.#entries.length;
  }

  toggle(entry: Entry): void {
    const { ordering, owner } = list;
    const rest = this.#entries.filter(({ value, id }) => value !== entry.value || id !== entry.id);
    if (rest.length < this.#entries.length) {
      const sql = "DELETE FROM entries WHERE ordering = ? AND owner = ? AND value = ? AND id = ?";
      this.#database.prepare(sql).run(ordering, owner, entry.value, entry.id);
      this.checkpoints.removed(list, entry.value, entry.id);
      this.#entries = rest;
    } else {
      this.#insert(ordering, owner, entry);
      this.checkpoints.added(list, entry.value, entry.id);
      this.#entries = [...rest, entry].sort((x, y) => compareEncoded(x.value, y.value) || compareEncoded(x.id, y.id));
    }
  }

  /** The entry that a place leads to. */
  at(position: number): unknown {
    const { value, id, skip } = this.checkpoints.place({ ...list, length: this.length }, position);
    const sql = `SELECT value, id FROM entries WHERE ordering = 1 AND owner = 2 AND (value, id) >= (?, ?)
      ORDER BY value, id LIMIT 1 OFFSET ?`;
    return { ...this.#database.prepare(sql).get(value, id, skip) };
  }

  expectTrue(): void {
    for (const [position, entry] of this.#entries.entries()) expect(this.at(position)).toEqual(entry);
    for (const value of values) {
      const below = this.#entries.filter((entry) => compareEncoded(entry.value, value) < 0).length;
      const equal = this.#entries.filter((entry) => entry.value === value).length;
      const sized = { ...list, length: this.length };
      expect([value, this.checkpoints.below(sized, value, false)]).toEqual([value, below]);
      expect([value, this.checkpoints.below(sized, value, true)]).toEqual([value, below + equal]);
    }
  }

  #insert(ordering: number, owner: number, { value, id }: Entry): void {
    this.#database.prepare("INSERT INTO entries VALUES (?, ?, ?, ?, 1)").run(ordering, owner, value, id);
  }
}

const values = ["", "0", "a", "ab", "b", "\uffee", "😀", "z"] as const;
const entry = fc.record({
  value: fc.constantFrom(...values),
  id: fc.integer({ min: 1, max: 40 }).map((n) => `id${n}`),
});

describe("marks", () => {
  it("find every position and count below every value, while entries come and go", () => {
    const rounds = fc.array(fc.array(entry, { maxLength: 40, size: "max" }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), rounds, fc.boolean(), (spacing, batches, forgets) => {
        const model = new Model(spacing);
        for (const batch of batches) {
          for (const one of batch) model.toggle(one);
          model.expectTrue();
          if (forgets) model.checkpoints.forget();
        }
      }),
      { numRuns: countForTier(60) },
    );
  });

  it("refuse a position past the end of a list that has marks", () => {
    const model = new Model(1);
    for (const id of ["a", "b", "c", "d"]) model.toggle({ value: "", id });
    model.expectTrue();
    expect(() => model.at(4)).toThrow(RangeError);
  });
});
