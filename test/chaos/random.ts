// Choices that look random and are the same for the same seed and name.

import { createHash } from "node:crypto";
import { seededMoments } from "../support/time/seeded-moments.ts";

export interface Random {
  /** From 0 up to 1. */
  fraction(): number;
  /** From 0 up to `below`. */
  whole(below: number): number;
  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T;
}

export function createRandom(seed: number, name: string): Random {
  const start = createHash("sha256").update(`${seed} ${name}`).digest().readUInt32BE(0);
  const fraction = seededMoments(start);
  const whole = (below: number): number => Math.floor(fraction() * below);
  return {
    fraction,
    whole,
    pick<T>(from: readonly T[]): T {
      const picked = from[whole(from.length)];
      if (picked === undefined) throw new Error("There is nothing to pick from");
      return picked;
    },
  };
}
