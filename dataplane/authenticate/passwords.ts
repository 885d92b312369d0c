// Compares passwords with their argon2id strings, off the event loop and only so many at once: one who waits too far back
// is refused with `login_busy`. An unknown user costs exactly one comparison, like a known one.

import { randomUUID } from "node:crypto";
import { verify as argon2Verify } from "argon2";
import { hashPassword, type PasswordCost, passwordCost } from "../../core/password/hash-password.ts";
import { loginBusy } from "./refusals.ts";

/** True when the password is the one of the hash; undefined stands for an unknown user: as much work, then false. */
export type ComparePassword = (hash: string | undefined, password: string) => Promise<boolean>;

export interface PasswordVerifier {
  /** Runs `attempt` when it is its turn. Throws Problem `login_busy` when too many wait already. */
  inTurn<T>(attempt: (compare: ComparePassword) => Promise<T>): Promise<T>;
}

export interface PasswordVerifierOptions {
  /** Attempts at once; more than libuv has threads to spare would hold up DNS and files. */
  readonly concurrency: number;
  /** Attempts that may wait; beyond it they are refused. */
  readonly maxWaiting: number;
  /** Cost of the comparison for unknown users: that of the stored hashes. */
  readonly cost?: PasswordCost;
  readonly observe?: (queue: PasswordQueue) => void;
}

export interface PasswordQueue {
  readonly running: number;
  readonly waiting: number;
}

/** Hashes the password of nobody once, for the comparisons that must fail. */
export async function createPasswordVerifier(options: PasswordVerifierOptions): Promise<PasswordVerifier> {
  const nobody = await hashPassword(randomUUID(), options.cost ?? passwordCost);
  const compare: ComparePassword = async (hash, password) => {
    const same = await argon2Verify(hash ?? nobody, password);
    return same && hash !== undefined;
  };
  const turns = createTurns(options);
  return {
    async inTurn(attempt) {
      await turns.take();
      try {
        return await attempt(compare);
      } finally {
        turns.give();
      }
    },
  };
}

interface Turns {
  take(): Promise<void>;
  give(): void;
}

function createTurns({ concurrency, maxWaiting, observe }: PasswordVerifierOptions): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  const report = (): void => observe?.({ running, waiting: waiting.length });

  return {
    async take() {
      if (running < concurrency) {
        running += 1;
        report();
        return;
      }
      if (waiting.length >= maxWaiting) throw loginBusy();
      await new Promise<void>((go) => {
        waiting.push(go);
        report();
      });
    },
    give() {
      const next = waiting.shift();
      // The place is handed on rather than freed, so that nobody who comes now overtakes those who wait.
      if (next === undefined) running -= 1;
      else next();
      report();
    },
  };
}

/** libuv's pool has four threads unless told otherwise; one stays for DNS, files and token signatures. */
const spareThreads = 3;

/** As many at once as leave a core to the event loop. */
export function passwordConcurrency(cores: number): number {
  return Math.max(1, Math.min(cores - 1, spareThreads));
}
