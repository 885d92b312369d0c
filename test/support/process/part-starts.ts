// Notes what starting a real part took, for the summary at the end of a run: a line of JSON in the
// file that JSONPLANE_PART_STARTS names. Without it nothing is noted.

import { appendFileSync } from "node:fs";

/** Runs `start` and notes how long it took until it resolved. */
export async function notingStart<T>(part: string, start: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const started = await start();
  const path = process.env.JSONPLANE_PART_STARTS;
  if (path) appendFileSync(path, `${JSON.stringify({ part, ms: Math.round(performance.now() - began) })}\n`);
  return started;
}
