// What the writer of kill tests writes, and what must be found after its death: the effects of
// every acknowledged write, and in each lane either those of the one that was under way, whole, or
// none of them.

import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef, DocumentRef } from "../../../dataplane/store/ports/refs.ts";
import { objectOf } from "../store/stored-objects.ts";

export const laneCount = 8;
export const writtenCollection: CollectionRef = { project: { namespace: "kill", name: "shop" }, resource: "books" };
export const writtenDocument: DocumentRef = { project: { namespace: "kill", name: "shop" }, rootKey: "lanes" };

export interface LaneWrite {
  readonly what: "create" | "replace" | "remove" | "append";
  readonly n: number;
  readonly value: number;
}

export type LaneLine =
  | { readonly lane: number; readonly start: LaneWrite }
  | { readonly lane: number; readonly done: true };

/** The object as the write with this value leaves it. */
export function objectAfter(n: number, value: number, lane: number): NewObject {
  return objectOf(n, { a: String(value % 17), b: `"${value}"` }, `user:lane${lane}`);
}

export interface LaneState {
  /** Object numbers with the value of their last write. */
  readonly objects: Map<number, number>;
  readonly appended: number[];
  pending?: LaneWrite | undefined;
}

export function emptyLane(): LaneState {
  return { objects: new Map(), appended: [] };
}

export function followLine(lanes: readonly LaneState[], line: LaneLine): void {
  const state = lanes[line.lane];
  if (state === undefined) throw new Error(`There is no lane ${line.lane}`);
  if ("start" in line) state.pending = line.start;
  else settle(state);
}

/** Takes the pending write for done. */
export function settle(state: LaneState): void {
  const { pending, objects, appended } = state;
  state.pending = undefined;
  if (pending === undefined) return;
  if (pending.what === "append") appended.push(pending.value);
  else if (pending.what === "remove") objects.delete(pending.n);
  else objects.set(pending.n, pending.value);
}

/** What a lane has written, in a form to compare; `pending` included when `withPending`. */
export function effects(state: LaneState, lane: number, withPending: boolean): LaneEffects {
  const copy: LaneState = { objects: new Map(state.objects), appended: [...state.appended], pending: state.pending };
  if (withPending) settle(copy);
  const texts = [...copy.objects].map(([n, value]) => objectAfter(n, value, lane).text);
  return { texts: texts.sort(), appended: copy.appended };
}

export interface LaneEffects {
  readonly texts: readonly string[];
  readonly appended: readonly number[];
}
