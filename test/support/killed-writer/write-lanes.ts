// The main part of a process that writes lanes until it is killed: tells on standard output, before
// and after each write, what it does.

import { writeSync } from "node:fs";
import { flushCompileCache } from "node:module";
import type { Store } from "../../../dataplane/store/port.ts";
import { carryOut, laneWrites, prepareLanes } from "./lane-writer.ts";
import { type LaneLine, laneCount } from "./lanes.ts";

export async function writeLoggedLanes(store: Store, round: number): Promise<void> {
  // Node keeps what it compiled when it ends, and this process is killed.
  flushCompileCache();
  await prepareLanes(store);
  await Promise.all(Array.from({ length: laneCount }, (_, lane) => write(store, round, lane)));
}

async function write(store: Store, round: number, lane: number): Promise<void> {
  for (const next of laneWrites(round, lane)) {
    report({ lane, start: next });
    await carryOut(store, lane, next);
    report({ lane, done: true });
  }
}

/** Into the pipe at once: what is in it survives the writer. */
function report(line: LaneLine): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
