// Changes what is stored without overwriting what others write: reads it, computes the change, and
// writes under If-Match, again whenever somebody else was faster.

import { pause } from "./pause.ts";
import { Problem } from "./problem.ts";

export interface Tagged<T> {
  readonly value: T;
  readonly etag: string;
}

export interface Edited<T, Change> {
  read(): Promise<Tagged<T>>;
  /** Undefined = nothing is to be changed. */
  change(current: T): Change | undefined | Promise<Change | undefined>;
  write(change: Change, ifMatch: string): Promise<T>;
  /** Whether the change is what is stored. */
  isStored(change: Change, current: T): boolean;
}

const maxConflicts = 20;
const pauseMs = 20;

/** What is stored in the end. */
export async function edit<T, Change>(edited: Edited<T, Change>, signal?: AbortSignal): Promise<T> {
  for (let conflicts = 0; ; conflicts += 1) {
    const { value, etag } = await edited.read();
    const change = await edited.change(value);
    if (change === undefined) return value;
    try {
      return await edited.write(change, etag);
    } catch (error) {
      if (!isConflict(error)) return await valueAfter(error, edited, change);
      if (conflicts === maxConflicts) throw error;
      await pause(pauseMs * conflicts * Math.random(), signal);
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof Problem && error.status === 412;
}

/** After a lost answer: to compute the change again might make it twice. */
async function valueAfter<T, Change>(error: unknown, edited: Edited<T, Change>, change: Change): Promise<T> {
  if (!(error instanceof Problem && error.isUncertain)) throw error;
  const { value } = await edited.read();
  if (edited.isStored(change, value)) return value;
  throw error;
}
