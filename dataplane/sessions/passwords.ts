// Compares passwords with their argon2id strings, off the event loop and only so many at once: a login that would wait behind too many
// is refused with `login_busy`. An unknown user costs exactly one comparison, like a known one.

import { randomUUID } from "node:crypto";
import { verify as argon2Verify } from "argon2";
import { hashPassword, type PasswordCost, passwordCost } from "../../core/password/hash-password.ts";
import { createSemaphore, type SemaphoreState } from "../../core/semaphore.ts";
import { loginBusy } from "./refusals.ts";

/** True when the password is the one of the hash; undefined stands for an unknown user: as much work, then false. */
export type ComparePassword = (hash: string | undefined, password: string) => Promise<boolean>;

export interface PasswordVerifier {
  /** Runs `attempt` once a permit is free; projects get them in turn. Throws Problem `login_busy` when too many wait already. */
  withPermit<T>(project: string, attempt: (compare: ComparePassword) => Promise<T>): Promise<T>;
}

export interface PasswordVerifierOptions {
  /** Attempts at once; more than libuv has threads to spare would hold up DNS and files. */
  readonly concurrency: number;
  /** Attempts that may wait; beyond it they are refused. */
  readonly maxWaiting: number;
  /** Cost of the comparison for unknown users: that of the stored hashes. */
  readonly cost?: PasswordCost;
  /** argon2's own, unless a test counts what is compared. */
  readonly verify?: typeof argon2Verify;
  readonly observe?: (queue: PasswordQueue) => void;
}

export type PasswordQueue = SemaphoreState;

/** Hashes the password of nobody once, for the comparisons that must fail. */
export async function createPasswordVerifier(options: PasswordVerifierOptions): Promise<PasswordVerifier> {
  const { cost = passwordCost, verify = argon2Verify } = options;
  const nobody = await hashPassword(randomUUID(), cost);
  const compare: ComparePassword = async (hash, password) => {
    const same = await verify(hash ?? nobody, password);
    return same && hash !== undefined;
  };
  const semaphore = createSemaphore({ ...options, refusal: loginBusy });
  return {
    async withPermit(project, attempt) {
      await semaphore.acquire(project);
      try {
        return await attempt(compare);
      } finally {
        semaphore.release();
      }
    },
  };
}

/** libuv's pool has four threads unless told otherwise; one stays for DNS, files and token signatures. */
const spareThreads = 3;

/** As many at once as leave a core to the event loop. */
export function passwordConcurrency(cores: number): number {
  return Math.max(1, Math.min(cores - 1, spareThreads));
}
