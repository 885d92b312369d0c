// Slows down repairs of the same Secret again and again, where something else keeps changing it: a
// tool, or another installation. Each may make another credential. The first repairs come
// immediately, later ones at growing intervals.

import { createHash } from "node:crypto";
import { backoffMs } from "../../core/backoff.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Monotonic } from "../../core/timers.ts";

/**
 * Something else changes the Secret as often as it is repaired, so repairs come at longer
 * intervals.
 */
export class SecretContested extends Error {
  override readonly name = "SecretContested";
}

export interface Repairs {
  /**
   * Milliseconds until `text` may be written once more at `target`, where it was written before; 0
   * = now.
   */
  waitMs(target: string, text: string): number;
  /** It was written: what differs from what was written last is no repair. */
  wrote(target: string, text: string): void;
}

interface Written {
  readonly digest: string;
  readonly repeats: number;
  readonly at: number;
}

const repairsAtOnce = 3;
const waits = { firstMs: 1_000, maxMs: 300_000, jitter: 0 };
/** A change once an hour is not a loop. */
const forgottenMs = 3_600_000;
/** What is forgotten beyond these is immediately repaired again. */
const maxTargets = 10_000;

export function createRepairs(monotonic: Monotonic): Repairs {
  const targets = recentlyUsed<Written>(maxTargets);
  const repeatOf = (target: string, digest: string): Written | undefined => {
    const before = targets.get(target);
    return before?.digest === digest && monotonic() - before.at < forgottenMs ? before : undefined;
  };
  return {
    waitMs(target, text) {
      const before = repeatOf(target, digestOf(text));
      if (before === undefined || before.repeats < repairsAtOnce) return 0;
      const wait = backoffMs(waits, before.repeats - repairsAtOnce + 1);
      return Math.max(0, before.at + wait - monotonic());
    },
    wrote(target, text) {
      const digest = digestOf(text);
      const repeats = (repeatOf(target, digest)?.repeats ?? -1) + 1;
      targets.set(target, { digest, repeats, at: monotonic() });
    },
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
