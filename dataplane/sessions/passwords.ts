// Compares passwords with their argon2id strings, off the event loop and only a few at once: a
// login that finds too many waiting is refused with `login_busy`. A wrong password costs the same
// for every user, known or not: one comparison at the cost of a chosen password, and one at that of
// a generated one.

import { randomUUID } from "node:crypto";
import { verify as argon2Verify } from "argon2";
import {
  costOf,
  generatedPasswordCost,
  hashPassword,
  normalisePassword,
  type PasswordCost,
  passwordCost,
} from "../../core/password/hash-password.ts";
import { createSemaphore, type SemaphoreState } from "../../core/semaphore.ts";
import { loginBusy } from "./refusals.ts";

/** `hash` is undefined for an unknown user. False always takes the same work. */
type ComparePassword = (hash: string | undefined, password: string) => Promise<boolean>;

export interface PasswordVerifier {
  /** Runs `attempt` once a permit is free, projects in turn. Throws Problem `login_busy`. */
  withPermit<T>(project: string, attempt: (compare: ComparePassword) => Promise<T>): Promise<T>;
}

interface PasswordVerifierOptions {
  /** Attempts at once: more than libuv has spare threads would delay DNS and files. */
  readonly concurrency: number;
  /** Attempts that may wait; beyond it they are refused. */
  readonly maxWaiting: number;
  /** Cost of the stored hashes of passwords that people made. */
  readonly cost?: PasswordCost;
  /** argon2's own, unless a test counts what is compared. */
  readonly verify?: typeof argon2Verify;
  readonly observe?: (queue: PasswordQueue) => void;
}

export type PasswordQueue = SemaphoreState;

/** Hashes passwords of nobody once, for the comparisons that must fail. */
export async function createPasswordVerifier(options: PasswordVerifierOptions): Promise<PasswordVerifier> {
  const { cost = passwordCost, verify = argon2Verify } = options;
  const nobody = await hashPassword(randomUUID(), cost);
  const nobodyGenerated = await hashPassword(randomUUID(), generatedPasswordCost);
  const compare: ComparePassword = async (hash, sent) => {
    // Not when the header is read: it may cost milliseconds, and failed logins are throttled.
    const password = normalisePassword(sent);
    const isGenerated = hash !== undefined && isOfGenerated(hash);
    if (hash !== undefined) requireAffordable(hash);
    const isCheapRight = await verify(isGenerated ? hash : nobodyGenerated, password);
    if (isGenerated && isCheapRight) return true;
    const isRight = await verify(isGenerated ? nobody : (hash ?? nobody), password);
    return isRight && hash !== undefined && !isGenerated;
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

function isOfGenerated(hash: string): boolean {
  return (costOf(hash)?.memoryKiB ?? Number.POSITIVE_INFINITY) <= generatedPasswordCost.memoryKiB;
}

/** A string from elsewhere could make one login take all memory. */
function requireAffordable(hash: string): void {
  const { memoryKiB, passes, parallelism } = passwordCost;
  const cost = costOf(hash);
  const isAffordable =
    cost !== undefined && cost.memoryKiB <= memoryKiB && cost.passes <= passes && cost.parallelism <= parallelism;
  if (!isAffordable) throw new Error("A stored password hash is none that jsonplane makes");
}

/** libuv has four threads by default; one stays for DNS, files and token signatures. */
const spareThreads = 3;

/** As many at once as leave a core to the event loop. */
export function passwordConcurrency(cores: number): number {
  return Math.max(1, Math.min(cores - 1, spareThreads));
}
