// Writes lanes to a store without end, for tests that kill the writer or the store. Each lane
// writes one thing after the other, so that at most one write per lane is without an answer at any
// moment.

import type { Store } from "../../../dataplane/store/port.ts";
import { type LaneWrite, laneCount, objectAfter, writtenCollection, writtenDocument } from "./lanes.ts";

/** Declares what lanes write to; may be repeated. */
export async function prepareLanes(store: Store): Promise<void> {
  const fields = ["a", "b"].map((name) => ({ name, path: [name] }));
  await store.declareIndexes(writtenCollection, fields, 1);
  await store.initialise(writtenDocument, "{}");
  for (let lane = 0; lane < laneCount; lane += 1) await ensureArray(store, lane);
}

async function ensureArray(store: Store, lane: number): Promise<void> {
  const { outcome } = await store.insertAt(writtenDocument, [`lane${lane}`], "[]", { maxBytes: 1 << 23 });
  if (outcome !== "created" && outcome !== "key_exists") throw new Error(`Unexpected outcome: ${outcome}`);
}

/** The writes of a lane in a round, without end. */
export function* laneWrites(round: number, lane: number): Generator<LaneWrite> {
  for (let step = 0; ; step += 1) {
    const n = round * 1_000_000 + lane * 100_000 + Math.floor(step / 4);
    const phases = ["create", "replace", "append", n % 3 === 0 ? "remove" : "replace"] as const;
    yield { what: phases[step % 4] ?? "create", n, value: step };
  }
}

/** Fails when the store answers with anything but success. */
export async function carryOut(store: Store, lane: number, { what, n, value }: LaneWrite): Promise<void> {
  if (what === "create") expect(await store.create(writtenCollection, objectAfter(n, value, lane), 1e9), "created");
  else if (what === "append") {
    const answer = await store.insertAt(writtenDocument, [`lane${lane}`, "-"], String(value), { maxBytes: 1 << 23 });
    expect(answer, "created");
  } else if (what === "remove") {
    if (!(await store.remove(writtenCollection, objectAfter(n, 0, lane).id, {})))
      throw new Error("Nothing was removed");
  } else {
    const object = objectAfter(n, value, lane);
    const previous = await store.read(writtenCollection, object.id, {});
    if (previous === undefined) throw new Error("An acknowledged object is missing");
    expect(await store.replace(writtenCollection, object, previous), "replaced");
  }
}

function expect(answer: { readonly outcome: string }, outcome: string): void {
  if (answer.outcome !== outcome) throw new Error(`Unexpected outcome: ${answer.outcome}`);
}
