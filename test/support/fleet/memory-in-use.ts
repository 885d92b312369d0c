// How much memory a program still uses, where it has loaded report-memory.ts.

import { fileURLToPath } from "node:url";
import { eventually } from "../time/eventually.ts";
import type { ProgramProcess } from "./program-process.ts";

export interface MemoryInUse {
  /** Bytes of JavaScript objects. */
  readonly heap: number;
  /** Bytes of buffers and the like, outside of the heap. */
  readonly external: number;
}

/** Flags of Node that make a program report. */
export const reportingFlags = [
  "--expose-gc",
  "--import",
  fileURLToPath(new URL("report-memory.ts", import.meta.url)),
] as const;

/** After a garbage collection. Resident memory would tell of the allocator as well. */
export async function memoryInUse(program: ProgramProcess): Promise<MemoryInUse> {
  const before = reportsOf(program).length;
  program.signal("SIGUSR2");
  return await eventually(() => {
    const report = reportsOf(program)[before];
    if (report === undefined) throw new Error("The program has not written how much memory is in use");
    return report;
  });
}

function reportsOf(program: ProgramProcess): readonly MemoryInUse[] {
  const lines = program.log().matchAll(/^\{"heapUsed":(\d+),"external":(\d+)\}$/gm);
  return Array.from(lines, ([, heap, external]) => ({ heap: Number(heap), external: Number(external) }));
}
