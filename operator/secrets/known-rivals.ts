// Remembers for some time which other installation looks after a Project, by its UID: while somebody has deleted all its Secrets nothing else
// says so. It forgets in the order in which the Secrets were last seen.

import type { Monotonic } from "../../core/timers.ts";
import { type Installation, installationText } from "../model/installation.ts";

export interface KnownRivals {
  /** Seen by Secrets of the Project just now; undefined = there is none. */
  learnt(uid: string, rival: Installation | undefined): void;
  /** What it names itself; undefined = none is known, or none any more. */
  nameOf(uid: string): string | undefined;
}

/** Some hundred bytes each. Of one that is forgotten the faster installation makes the Secret anew. */
const maxRivals = 10_000;
/** A rival that runs has made the Secrets anew by then. */
const forgottenMs = 600_000;

export function createKnownRivals(monotonic: Monotonic): KnownRivals {
  const rivals = new Map<string, { readonly name: string; readonly seenAt: number }>();
  return {
    learnt(uid, rival) {
      rivals.delete(uid);
      if (rival !== undefined) rivals.set(uid, { name: installationText(rival), seenAt: monotonic() });
      const [oldest] = rivals.keys();
      if (oldest !== undefined && rivals.size > maxRivals) rivals.delete(oldest);
    },
    nameOf(uid) {
      const known = rivals.get(uid);
      return known === undefined || monotonic() - known.seenAt >= forgottenMs ? undefined : known.name;
    },
  };
}
