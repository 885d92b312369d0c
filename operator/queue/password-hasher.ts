// Makes argon2id hashes while passes over Projects go on. A pass that needs one which is not made
// yet continues without it, and its Project is due again once it is. Namespaces take turns, and so
// do the Projects of each. A hash that can't be made fails the pass that asks for it next.

import { createHash } from "node:crypto";
import { availableParallelism } from "node:os";
import { projectOfKey } from "../../core/config/config-keys.ts";
import { FairQueue } from "../../core/fair-queue.ts";
import {
  generatedPasswordCost,
  hashPassword,
  type PasswordCost,
  requireHashable,
} from "../../core/password/hash-password.ts";
import type { Monotonic } from "../../core/timers.ts";
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
  /**
   * Forgets what former passes asked for and this one did not. Milliseconds since the Project began
   * to wait; undefined = it doesn't.
   */
  end(): number | undefined;
}

export interface PasswordHasherDeps {
  /** Of the Projects. */
  readonly queue: Pick<WorkQueue, "add" | "addAfter">;
  readonly monotonic: Monotonic;
  /** Hashes that are made at a time; default: one for two processors, and two at most. */
  readonly atOnce?: number;
  /** For tests. */
  readonly hash?: typeof hashPassword;
}

type Make = () => Promise<string>;

interface Job {
  made?: { readonly value: string } | { readonly error: unknown };
}

interface ProjectJobs {
  /** By a digest of what is to be made: no password is kept once its hash is there. */
  readonly jobs: Map<string, Job>;
  /** Those that nobody has begun. */
  readonly waiting: Map<Job, Make>;
  /** Those without a result. */
  readonly unmade: Set<Job>;
  /** When the first of them was asked for. */
  since: number;
}

/** A thousand passwords must not lead to a thousand passes. */
const betweenPassesMs = 500;

/**
 * Argon2 shares four threads with all else that Node does outside JavaScript, and the processors
 * with the passes.
 */
function defaultAtOnce(): number {
  return Math.min(2, Math.max(1, Math.floor(availableParallelism() / 2)));
}

export function createPasswordHasher(deps: PasswordHasherDeps): PasswordHasher {
  return new Hasher(deps);
}

class Hasher implements PasswordHasher {
  readonly #deps: PasswordHasherDeps;
  readonly #projects = new Map<string, ProjectJobs>();
  /** Projects with jobs that nobody has begun. */
  readonly #due = new FairQueue<string>();
  #underWay = 0;
  #isStopped = false;

  constructor(deps: PasswordHasherDeps) {
    this.#deps = deps;
  }

  readonly passOf = (project: string): PassHashes => {
    const { hash = hashPassword, monotonic } = this.#deps;
    const known = this.#projects.get(project) ?? { jobs: new Map(), waiting: new Map(), unmade: new Set(), since: 0 };
    this.#projects.set(project, known);
    const asked = new Set<string>();
    const ask = (what: string, make: Make): string | undefined => {
      asked.add(what);
      return this.#ask(project, what, make);
    };
    return {
      async hashPassword(password, cost) {
        requireHashable(password);
        const make = () => hash(password, cost);
        // Of a password that was made here: far below a millisecond.
        if (cost !== undefined && cost.memoryKiB <= generatedPasswordCost.memoryKiB) return await make();
        // Users of one Project with one password have one hash: most name one entry of one Secret.
        // Only those who can read the hashes see that they share a salt, and nobody guesses faster.
        return ask(digestOf(password), make);
      },
      end: () => {
        for (const [what, job] of known.jobs) {
          if (asked.has(what)) continue;
          known.jobs.delete(what);
          known.waiting.delete(job);
          known.unmade.delete(job);
        }
        if (known.jobs.size === 0) this.#projects.delete(project);
        return known.unmade.size === 0 ? undefined : monotonic() - known.since;
      },
    };
  };

  stop(): void {
    this.#isStopped = true;
  }

  /** What was made; undefined = not yet. */
  #ask(project: string, what: string, make: Make): string | undefined {
    const known = this.#projects.get(project);
    if (known === undefined) throw new Error("The pass has ended");
    const { made } = known.jobs.get(what) ?? {};
    if (made !== undefined) {
      if ("value" in made) return made.value;
      known.jobs.delete(what);
      throw made.error;
    }
    if (known.jobs.has(what)) return undefined;
    const job: Job = {};
    known.jobs.set(what, job);
    known.waiting.set(job, make);
    known.unmade.add(job);
    if (known.unmade.size === 1) known.since = this.#deps.monotonic();
    this.#due.add(project, projectOfKey(project).namespace);
    this.#begin();
    return undefined;
  }

  #begin(): void {
    const { atOnce = defaultAtOnce() } = this.#deps;
    while (this.#underWay < atOnce && !this.#isStopped) {
      const project = this.#due.shift();
      if (project === undefined) return;
      const { waiting = new Map<Job, Make>() } = this.#projects.get(project) ?? {};
      const [next] = waiting;
      if (next === undefined) continue;
      const [job, make] = next;
      waiting.delete(job);
      if (waiting.size > 0) this.#due.add(project, projectOfKey(project).namespace);
      void this.#run(project, job, make);
    }
  }

  async #run(project: string, job: Job, make: Make): Promise<void> {
    this.#underWay += 1;
    job.made = await make().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    this.#underWay -= 1;
    const { unmade } = this.#projects.get(project) ?? {};
    // Otherwise nobody asks for it any more.
    if (unmade?.delete(job) === true) {
      if (unmade.size === 0) this.#deps.queue.add(project);
      else this.#deps.queue.addAfter(project, betweenPassesMs);
    }
    this.#begin();
  }
}

function digestOf(password: string): string {
  return createHash("sha256").update(password).digest("base64");
}
