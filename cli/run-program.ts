// The frame of every command that runs until it is stopped. A signal ends it, also during its
// start. What was opened is closed in the reverse order, after a signal as after a failure,
// including what a start opens too late. What a person must fix is a sentence and exit code 1.

import { setTimeout as sleep } from "node:timers/promises";
import { describeError } from "../core/log/describe-error.ts";
import { type Ports, refusalOf } from "./start-refused.ts";

type Close = () => Promise<void> | void;

/** What a program has opened, for its end. */
export interface Cleanup {
  /**
   * Adds what closes something that was opened. Once the program ends, it closes immediately and
   * throws, so that the start ends.
   */
  add(close: Close): void;
  /** Aborted once the program ends: a start that waits has to give up. */
  readonly stopping: AbortSignal;
}

/** A start that neither opens anything more nor gives up by then is left behind. */
const startPatienceMs = 5_000;

export interface ProgramOptions {
  /** What the person typed. */
  readonly name: string;
  /** Undefined when the error says nothing that a person could act on. */
  refusalOf(error: unknown): string | undefined;
  /**
   * It ends once its work is done, so a signal before that is a failure: 143 after SIGTERM, 130
   * after SIGINT. Otherwise it runs until a signal, which it ends with 0 after.
   */
  readonly endsByItself?: boolean;
}

/** For the commands of jsonplane. */
export function programOptions(ports: Ports): ProgramOptions {
  return { name: "jsonplane", refusalOf: (error) => refusalOf(error, ports) };
}

/**
 * Resolves with the exit code. `start` adds what it opens to `cleanup`; what it resolves with may
 * say that the program ends by itself, and with which code.
 */
export async function runProgram(
  options: ProgramOptions,
  start: (cleanup: Cleanup) => Promise<{ readonly ended: Promise<number> } | undefined>,
): Promise<number> {
  const signalled = stopSignal().then((code) => (options.endsByItself ? code : 0));
  const opened = createOpened();
  const starting = start(opened.cleanup);
  let code: number;
  try {
    code = await Promise.race([starting.then((running) => running?.ended ?? signalled), signalled]);
  } catch (error) {
    const refusal = options.refusalOf(error);
    if (refusal === undefined) {
      reportFailures(options, await opened.closeAll(starting));
      throw error;
    }
    process.stderr.write(`${options.name}: ${refusal}\n`);
    code = 1;
  }
  return reportFailures(options, await opened.closeAll(starting)) ? 1 : code;
}

function reportFailures(options: ProgramOptions, failures: readonly unknown[]): boolean {
  for (const failure of failures)
    process.stderr.write(`${options.name}: it did not end cleanly: ${describeError(failure)}\n`);
  return failures.length > 0;
}

class Stopping extends Error {}

interface Opened {
  readonly cleanup: Cleanup;
  /** Closes everything, and what `starting` still opens. Resolves with what failed on the way. */
  closeAll(starting: Promise<unknown>): Promise<readonly unknown[]>;
}

function createOpened(): Opened {
  const stopping = new AbortController();
  const toClose: Close[] = [];
  const late: Promise<void>[] = [];
  const failures: unknown[] = [];
  const run = async (close: Close): Promise<void> => {
    try {
      await close();
    } catch (error) {
      failures.push(error);
    }
  };
  return {
    cleanup: {
      stopping: stopping.signal,
      add(close) {
        if (!stopping.signal.aborted) return void toClose.push(close);
        late.push(run(close));
        throw new Stopping("The program ends");
      },
    },
    async closeAll(starting) {
      stopping.abort();
      for (const close of toClose.reverse()) await run(close);
      // What it fails with now comes of its end, or was reported as the program's failure.
      const patience = new AbortController();
      const tooLong = sleep(startPatienceMs, undefined, { signal: patience.signal }).catch(() => undefined);
      await Promise.race([starting.catch(() => undefined), tooLong]);
      patience.abort();
      await Promise.all(late);
      return failures;
    },
  };
}

/** Resolves at the first signal, with the code of shells; a second one ends the process. */
export async function stopSignal(): Promise<number> {
  const signals = { SIGINT: 130, SIGTERM: 143 } as const;
  return await new Promise((resolve) => {
    let asked = false;
    for (const [signal, code] of Object.entries(signals)) {
      process.on(signal, () => {
        if (asked) process.exit(code);
        asked = true;
        resolve(code);
      });
    }
  });
}
