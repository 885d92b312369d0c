// The frame of every command that runs until it is stopped: a signal ends it, its start too; what was opened is closed in the
// reverse order, after a signal as after a failure; what a person must mend is a sentence and exit code 1.

import { type Ports, refusalOf } from "./start-refused.ts";
import { stopSignal } from "./stop-signal.ts";

export type Closers = (() => Promise<void> | void)[];

export interface Frame {
  /** What the person typed. */
  readonly name: string;
  /** Undefined when the error says nothing that a person could act on. */
  refusalOf(error: unknown): string | undefined;
}

/** The frame of the commands of jsonplane. */
export function commandFrame(ports: Ports): Frame {
  return { name: "jsonplane", refusalOf: (error) => refusalOf(error, ports) };
}

/**
 * Resolves with the exit code. `start` adds what it opens to `closers` as it goes; what it resolves with may say that the
 * program ends by itself, and with which code.
 */
export async function runProgram(
  frame: Frame,
  start: (closers: Closers) => Promise<{ readonly ended: Promise<number> } | undefined>,
): Promise<number> {
  const stopping = stopSignal().then(() => 0);
  const closers: Closers = [];
  try {
    return await Promise.race([start(closers).then((running) => running?.ended ?? stopping), stopping]);
  } catch (error) {
    const refusal = frame.refusalOf(error);
    if (refusal === undefined) throw error;
    process.stderr.write(`${frame.name}: ${refusal}\n`);
    return 1;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}
