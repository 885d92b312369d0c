// Runs a process that writes lanes (lane-writer.ts) until it is killed at a given moment, and follows what it says of each
// write. Fails when the process ends in another way or complains.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { expect } from "vitest";
import { followLine, type LaneLine, type LaneState } from "./lanes.ts";

export interface KilledWriter {
  /** The program and its arguments. */
  readonly program: readonly [string, ...string[]];
  /** Milliseconds until it dies, from its start or from its first write. */
  readonly from: "start" | "writing";
  readonly milliseconds: number;
}

/** Returns how many writes were acknowledged. */
export async function writeUntilKilled(writer: KilledWriter, lanes: readonly LaneState[]): Promise<number> {
  const child = spawn(process.execPath, writer.program, { stdio: ["ignore", "pipe", "pipe"] });
  const kill = () => setTimeout(() => child.kill("SIGKILL"), writer.milliseconds);
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  if (writer.from === "start") kill();
  let acknowledged = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = parsed(text);
    if (line === undefined) break;
    if ("ready" in line && writer.from === "writing") kill();
    if ("done" in line) acknowledged += 1;
    followLine(lanes, line);
  }
  expect([await ended, complaints]).toEqual(["SIGKILL", ""]);
  return acknowledged;
}

/** Undefined for a line that the kill cut off. */
function parsed(text: string): LaneLine | undefined {
  return text.endsWith("}") ? (JSON.parse(text) as LaneLine) : undefined;
}
