// Compares what a store holds with what lanes of writers were told: every acknowledged write, the
// unanswered one of a lane whole or not at all, and every index as the documents say.

import { expect } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import { expectIndexesExact } from "../redis/check-integrity.ts";
import { effects, type LaneEffects, type LaneState, settle, writtenCollection, writtenDocument } from "./lanes.ts";

/** Afterwards no lane has an unanswered write: it was found, or it never took place. */
export async function checkLanes(store: Store, lanes: readonly LaneState[]): Promise<void> {
  const owners = lanes.map((_, lane) => `user:lane${lane}`);
  await expectIndexesExact(store, writtenCollection, owners);
  for (const [lane, state] of lanes.entries()) {
    const found = await effectsIn(store, lane);
    if (state.pending !== undefined && isSame(found, effects(state, lane, true))) settle(state);
    state.pending = undefined;
    expect(found).toEqual(effects(state, lane, false));
  }
}

async function effectsIn(store: Store, lane: number): Promise<LaneEffects> {
  const texts: string[] = [];
  for await (const batch of store.scan(writtenCollection, { owner: `user:lane${lane}` })) texts.push(...batch);
  const read = await store.readAt(writtenDocument, [`lane${lane}`]);
  return { texts: texts.sort(), appended: read.outcome === "found" ? (JSON.parse(read.text) as number[]) : [] };
}

function isSame(one: LaneEffects, other: LaneEffects): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
