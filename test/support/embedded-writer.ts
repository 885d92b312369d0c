// A process that writes to an embedded store until it is killed, and tells on standard output, before and after each write,
// what it does: `node embedded-writer.ts <directory> <round>`. Each lane writes one thing after the other, so that at most
// one write per lane is without an answer when the process dies.

import { writeSync } from "node:fs";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type LaneLine, type LaneWrite, laneCount, objectAfter, writtenCollection, writtenDocument } from "./lanes.ts";

const [directory = "", round = "0"] = process.argv.slice(2);
const store = await createEmbeddedStore({ directory, clock: systemClock });
await store.declareIndexes(
  writtenCollection,
  [
    { name: "a", path: ["a"] },
    { name: "b", path: ["b"] },
  ],
  1,
);
await store.initialise(writtenDocument, "{}");
for (let lane = 0; lane < laneCount; lane += 1) await ensureArray(store, lane);
tell({ ready: true });
await Promise.all(Array.from({ length: laneCount }, (_, lane) => write(lane)));

async function ensureArray(target: Store, lane: number): Promise<void> {
  const { outcome } = await target.insertAt(writtenDocument, [`lane${lane}`], "[]", { maxBytes: 1 << 23 });
  if (outcome !== "created" && outcome !== "key_exists") throw new Error(`Unexpected outcome: ${outcome}`);
}

async function write(lane: number): Promise<void> {
  for (let step = 0; ; step += 1) {
    const n = Number(round) * 1_000_000 + lane * 100_000 + Math.floor(step / 4);
    const phases = ["create", "replace", "append", n % 3 === 0 ? "remove" : "replace"] as const;
    const done: LaneWrite = { what: phases[step % 4] ?? "create", n, value: step };
    tell({ lane, start: done });
    await carryOut(lane, done);
    tell({ lane, done: true });
  }
}

async function carryOut(lane: number, { what, n, value }: LaneWrite): Promise<void> {
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

/** Into the pipe at once: what is in it survives the writer. */
function tell(line: LaneLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
