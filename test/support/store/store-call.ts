// One call of a random sequence, and the store that it is carried out on.

import fc from "fast-check";
import type { ProjectRef } from "../../../core/config/types.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef, DocumentRef } from "../../../dataplane/store/ports/refs.ts";
import type { ManualClock } from "../time/manual-clock.ts";

/** One store with what the sequence so far has made in it. */
export interface Subject {
  readonly store: Store;
  readonly clock: ManualClock;
  readonly project: ProjectRef;
  readonly collection: CollectionRef;
  readonly document: DocumentRef;
  made: number;
  revision: number;
  /** Whether the sequence has moved its clock on, which moves Redis' own time not at all. */
  clockMoved: boolean;
}

export interface Call {
  readonly what: string;
  readonly run: (subject: Subject) => Promise<unknown>;
}

export function subjectOf(store: Store, clock: ManualClock, project: ProjectRef): Subject {
  const [collection, document] = [
    { project, resource: "books" },
    { project, rootKey: "flags" },
  ];
  return { store, clock, project, collection, document, made: 0, revision: 1, clockMoved: false };
}

export function call<T>(
  what: string,
  inputs: fc.Arbitrary<T>,
  run: (subject: Subject, input: T) => Promise<unknown>,
): fc.Arbitrary<Call> {
  return inputs.map((input) => {
    const shown = `${what} ${JSON.stringify(input)}`;
    // What fast-check prints of a sequence that fails.
    return { what: shown, run: (subject: Subject) => run(subject, input), [fc.toStringMethod]: () => shown };
  });
}
