// Runs a process that writes lanes (lane-writer.ts) until it is killed at a given moment, and
// follows what it says of each write. A moment among writes is counted in writes, so that it is the
// same on a busy machine. Fails when the process ends in another way or complains.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { followLine, type LaneLine, type LaneState } from "./lanes.ts";

export interface KilledWriter {
  /** The program and its arguments. */
  readonly program: readonly [string, ...string[]];
  /**
   * When it dies: so long after its start, whatever it does by then, or once so many of its writes
   * were acknowledged.
   */
  readonly dies: { readonly millisecondsAfterStart: number } | { readonly afterWrites: number };
}

/** Returns how many writes were acknowledged. */
export async function writeUntilKilled(writer: KilledWriter, lanes: readonly LaneState[]): Promise<number> {
  const child = spawn(process.execPath, writer.program, { stdio: ["ignore", "pipe", "pipe"] });
  const { dies } = writer;
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  if ("millisecondsAfterStart" in dies) setTimeout(() => child.kill("SIGKILL"), dies.millisecondsAfterStart);
  let acknowledged = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = parsed(text);
    if (line === undefined) break;
    if ("done" in line) acknowledged += 1;
    if ("afterWrites" in dies && acknowledged === dies.afterWrites) child.kill("SIGKILL");
    followLine(lanes, line);
  }
  expect([await ended, complaints]).toEqual(["SIGKILL", ""]);
  return acknowledged;
}

/** Undefined for a line that the kill cut off. */
function parsed(text: string): LaneLine | undefined {
  return text.endsWith("}") ? (JSON.parse(text) as LaneLine) : undefined;
}
