// Slows down repairs of the same thing again and again, where something else keeps changing it: a tool, or another
// installation. The first repairs come at once, later ones ever more seldom.

import { createHash } from "node:crypto";
import type { Monotonic } from "../../core/timers.ts";

/** Something else changes the Secret as often as it is repaired, so repairs come at longer intervals. */
export class SecretContested extends Error {
  override readonly name = "SecretContested";
}

export interface Repairs {
  /** Milliseconds until `text` may be written once more at `place`, where it was written before; 0 = now. */
  waitMs(place: string, text: string): number;
  /** Whether `text` was written last at `place`, within the last hour. */
  wasWritten(place: string, text: string): boolean;
  /** It was written: what differs from what was written last is no repair. */
  wrote(place: string, text: string): void;
}

interface Written {
  readonly digest: string;
  readonly repeats: number;
  readonly at: number;
}

const repairsAtOnce = 3;
const firstWaitMs = 1_000;
const maxWaitMs = 300_000;
/** Who changes something once an hour is no loop. */
const forgottenMs = 3_600_000;
/** Of what is not remembered any more a repair comes at once. */
const maxPlaces = 10_000;

export function createRepairs(monotonic: Monotonic): Repairs {
  /** What was written last comes last. */
  const places = new Map<string, Written>();
  const repeatOf = (place: string, digest: string): Written | undefined => {
    const before = places.get(place);
    return before?.digest === digest && monotonic() - before.at < forgottenMs ? before : undefined;
  };
  return {
    waitMs(place, text) {
      const before = repeatOf(place, digestOf(text));
      if (before === undefined || before.repeats < repairsAtOnce) return 0;
      const wait = Math.min(firstWaitMs * 2 ** (before.repeats - repairsAtOnce), maxWaitMs);
      return Math.max(0, before.at + wait - monotonic());
    },
    wasWritten: (place, text) => repeatOf(place, digestOf(text)) !== undefined,
    wrote(place, text) {
      const digest = digestOf(text);
      const repeats = (repeatOf(place, digest)?.repeats ?? -1) + 1;
      places.delete(place);
      places.set(place, { digest, repeats, at: monotonic() });
      for (const oldest of places.keys()) {
        if (places.size <= maxPlaces) break;
        places.delete(oldest);
      }
    },
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
