// Running Authentication and Sessions over the projects of a test, with a clock that stands still
// and cheap password hashes, and the counts and observations that tests look at.

import type { CompiledProject } from "../../../core/config/types.ts";
import type { WantedKeys } from "../../../core/config/wanted-keys.ts";
import type { Problem } from "../../../core/errors/problem.ts";
import type { Timers } from "../../../core/timers.ts";
import type { Caller } from "../../../dataplane/authenticate/caller.ts";
import {
  type Authentication,
  createAuthentication,
  type Proof,
} from "../../../dataplane/authenticate/create-authentication.ts";
import type { Directory, LiveProject } from "../../../dataplane/config/directory.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../../dataplane/config/memory-directory.ts";
import { createSessions, type Sessions } from "../../../dataplane/sessions/create-sessions.ts";
import type { AuthenticationObservation } from "../../../dataplane/sessions/open-session.ts";
import { createPasswordVerifier, type PasswordVerifier } from "../../../dataplane/sessions/passwords.ts";
import type { SessionsAndCounters } from "../store/session-store.ts";
import { type ManualClock, manualClock } from "../time/manual-clock.ts";

export const cheapCost = { memoryKiB: 96, passes: 1, parallelism: 1 };

/** Issuer of the tokens of these tests. */
export function issuerOf({ config }: LiveProject): string {
  return `http://127.0.0.1:8080/${config.namespace}/${config.name}`;
}

/** With a way to ask who a header proved to be the caller, and no more. */
export interface CheckedAuthentication extends Authentication {
  callerOf(project: LiveProject, header: string | undefined): Caller | Promise<Caller>;
}

export interface AuthenticationSetup {
  readonly authentication: CheckedAuthentication;
  readonly sessions: Sessions;
  readonly clock: ManualClock;
  readonly memory: MemoryDirectory;
  readonly observed: readonly AuthenticationObservation[];
  /** Keys of external issuers asked for so far. */
  readonly wanted: readonly WantedKeys[];
  /** Password comparisons so far. */
  comparisons(): number;
  /** The project as it is live now. */
  live(name?: string): LiveProject;
}

export interface AuthenticationOptions {
  readonly store: SessionsAndCounters;
  readonly projects: readonly CompiledProject[];
  readonly clock?: ManualClock;
  /** Stands in front of the memory directory. */
  readonly directory?: (memory: Directory) => Directory;
  readonly passwords?: PasswordVerifier;
  readonly timers?: Timers;
  readonly maxVerified?: number;
  readonly betweenWantsMs?: number;
}

export async function authenticationSetup(options: AuthenticationOptions): Promise<AuthenticationSetup> {
  const { store, projects, clock = manualClock(), directory = (memory) => memory } = options;
  const memory = createMemoryDirectory(clock);
  memory.replace(projects);
  const observed: AuthenticationObservation[] = [];
  const counted = countComparisons(
    options.passwords ?? (await createPasswordVerifier({ concurrency: 1, maxWaiting: 64, cost: cheapCost })),
  );
  const parts = { directory: directory(memory.directory), store, clock };
  const { timers, maxVerified, betweenWantsMs } = options;
  const wanted: WantedKeys[] = [];
  const authentication = await createAuthentication({
    ...parts,
    issuerOf,
    wantKeys: (keys) => wanted.push(keys),
    ...(timers && { timers }),
    ...(maxVerified !== undefined && { maxVerified }),
    ...(betweenWantsMs !== undefined && { betweenWantsMs }),
  });
  const sessions = await createSessions({
    ...parts,
    authentication,
    passwords: counted.passwords,
    observe: (observation) => observed.push(observation),
  });
  const callerOf = (project: LiveProject, header: string | undefined): Caller | Promise<Caller> => {
    const proof = authentication.authenticate(project, header);
    return proof instanceof Promise ? proof.then(({ caller }: Proof) => caller) : proof.caller;
  };
  return {
    authentication: { ...authentication, callerOf },
    sessions,
    clock,
    memory,
    observed,
    wanted,
    comparisons: counted.count,
    live(name = projects[0]?.project.name ?? "") {
      const found = memory.directory.project({ namespace: projects[0]?.project.namespace ?? "default", name });
      if (found instanceof Promise || found.outcome !== "found") throw new Error(`No live project ${name}`);
      return found.value;
    },
  };
}

function countComparisons(inner: PasswordVerifier): { readonly passwords: PasswordVerifier; count(): number } {
  let comparisons = 0;
  return {
    count: () => comparisons,
    passwords: {
      withPermit: (project, attempt) =>
        inner.withPermit(project, (compare) =>
          attempt((hash, password) => {
            comparisons += 1;
            return compare(hash, password);
          }),
        ),
    },
  };
}

/** The Problem that a call is refused with, whether it throws or rejects. */
export async function refusalOf(call: () => unknown): Promise<Problem> {
  try {
    await call();
  } catch (error) {
    if (error instanceof Error && error.name === "Problem") return error as Problem;
    throw error;
  }
  throw new Error("The call was not refused");
}
