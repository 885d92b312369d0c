// Makes argon2id hashes while passes over Projects go on. A pass that needs one which is not made
// yet continues without it, and its Project is due again once it is. Namespaces take turns. A hash
// that can't be made fails the pass that asks for it next.

import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { projectOfKey } from "../../core/config/config-keys.ts";
import {
  generatedPasswordCost,
  hashPassword,
  type PasswordCost,
  requireHashable,
} from "../../core/password/hash-password.ts";
import { createSemaphore } from "../../core/semaphore.ts";
import type { WorkQueue } from "./work-queue.ts";

export interface PasswordHasher {
  /** For one pass over a Project, `<namespace>/<name>`; a Project has one at a time. */
  readonly passOf: (project: string) => PassHashes;
  /** Nothing is begun any more. */
  stop(): void;
}

/** What one pass asks for. Undefined = not yet: the Project is due again once it is there. */
export interface PassHashes {
  /** Throws PasswordRefused. */
  readonly hashPassword: (password: string, cost?: PasswordCost) => Promise<string | undefined>;
  /** Forgets what former passes asked for and this one did not. */
  end(): void;
}

export interface PasswordHasherDeps {
  /** Of the Projects. */
  readonly queue: Pick<WorkQueue, "add" | "addAfter">;
  /** Hashes that are made at a time; default: one for two processors, and two at most. */
  readonly atOnce?: number;
  /** For tests. */
  readonly hash?: typeof hashPassword;
}

interface Job {
  made?: { readonly value: string } | { readonly error: unknown };
}

/** By a digest of the password: none is kept once its hash is there. */
type Jobs = Map<string, Job>;

/** A thousand passwords must not lead to a thousand passes. */
const betweenPassesMs = 500;

/**
 * Argon2 shares four threads with all else that Node does outside JavaScript, and the processors
 * with the passes.
 */
function defaultAtOnce(): number {
  return Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)));
}

export function createPasswordHasher({
  queue,
  atOnce = defaultAtOnce(),
  hash = hashPassword,
}: PasswordHasherDeps): PasswordHasher {
  const permits = createSemaphore({
    concurrency: atOnce,
    maxWaiting: Number.POSITIVE_INFINITY,
    refusal: () => new Error("Too many passwords wait"),
  });
  const projects = new Map<string, Jobs>();
  let isStopped = false;

  const jobsOf = (project: string): Jobs => {
    const jobs = projects.get(project) ?? new Map();
    projects.set(project, jobs);
    return jobs;
  };

  const run = async (project: string, digest: string, make: () => Promise<string>): Promise<void> => {
    const job: Job = {};
    const jobs = jobsOf(project);
    jobs.set(digest, job);
    /** Otherwise nobody asks for it any more. */
    const isWanted = (): boolean => !isStopped && projects.get(project)?.get(digest) === job;
    await permits.acquire(projectOfKey(project).namespace);
    if (isWanted()) {
      job.made = await make().then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
    }
    permits.release();
    if (!isWanted()) return;
    const isLast = [...jobs.values()].every(({ made }) => made !== undefined);
    if (isLast) queue.add(project);
    else queue.addAfter(project, betweenPassesMs);
  };

  const ask = (project: string, digest: string, make: () => Promise<string>): string | undefined => {
    const jobs = jobsOf(project);
    const job = jobs.get(digest);
    if (job === undefined) void run(project, digest, make);
    if (job?.made === undefined) return undefined;
    if ("value" in job.made) return job.made.value;
    jobs.delete(digest);
    throw job.made.error;
  };

  return {
    passOf(project) {
      const jobs = jobsOf(project);
      const asked = new Set<string>();
      return {
        async hashPassword(password, cost) {
          requireHashable(password);
          const make = () => hash(password, cost);
          // Of a password that was made here: far below a millisecond.
          if (isGeneratedCost(cost)) return await make();
          // Users of one Project with one password have one hash: most name one entry of one
          // Secret. Only those who can read the hashes see that they share a salt, and nobody
          // guesses faster.
          const digest = createHash("sha256").update(password).digest("base64");
          asked.add(digest);
          return ask(project, digest, make);
        },
        end() {
          forgetOthers(jobs, asked);
          if (jobs.size === 0) projects.delete(project);
        },
      };
    },
    stop() {
      isStopped = true;
    },
  };
}

function isGeneratedCost(cost: PasswordCost | undefined): boolean {
  return cost !== undefined && cost.memoryKiB <= generatedPasswordCost.memoryKiB;
}

function forgetOthers(jobs: Jobs, asked: ReadonlySet<string>): void {
  for (const digest of jobs.keys()) if (!asked.has(digest)) jobs.delete(digest);
}
