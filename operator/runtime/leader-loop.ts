// The leader loop: waits for the Lease, runs a session until the Lease is lost, and stands by
// again. A session has ended before the Lease is requested again, so that a paused process that
// wakes up finds all its writes refused. Only a process whose caches are complete requests the
// Lease: one that must list everything first would take it from one that could continue
// immediately. And a leader acts only once its caches are up to date: complete caches may be
// minutes behind on dead connections, and would restore what was revoked.

import { pauseUnlessAborted } from "../../core/timers.ts";
import { joinSignals } from "../kube/signals.ts";
import type { Elector, Leadership } from "../lead/elector.ts";
import { LeaderSession } from "./leader-session.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface LeaderLoopOptions {
  readonly elector: Elector;
  readonly context: OperatorContext;
  /** Ends the session and releases the Lease. */
  readonly stopping: AbortSignal;
  /** Called with the session that leads now; undefined = this process stands by. */
  readonly onSession: (session: LeaderSession | undefined) => void;
}

/** Work that was under way when leadership was lost has ended by then, or never will. */
const stuckMs = 60_000;
const syncLookMs = 20;

/**
 * The work of a session that lost the Lease does not end: only a restart of the process ends it.
 */
export class SessionStuck extends Error {
  override readonly name = "SessionStuck";
}

/**
 * Resolves when it was stopped; rejects when this process can't lead any more, with SessionStuck
 * among others.
 */
export async function runLeaderLoop({ elector, context, stopping, onSession }: LeaderLoopOptions): Promise<void> {
  const { caches, guardRails, timers } = context;
  while (!stopping.aborted) {
    if (!caches.synced() || guardRails?.isKnown() === false) {
      await pauseUnlessAborted(timers, syncLookMs, stopping);
      continue;
    }
    const leadership = await acquired(elector, stopping);
    if (leadership !== undefined) await lead(leadership, { context, stopping, onSession });
  }
}

async function acquired(elector: Elector, stopping: AbortSignal): Promise<Leadership | undefined> {
  try {
    return await elector.acquire(stopping);
  } catch (error) {
    if (stopping.aborted) return undefined;
    throw error;
  }
}

async function lead(
  leadership: Leadership,
  { context, stopping, onSession }: Omit<LeaderLoopOptions, "elector">,
): Promise<void> {
  const over = joinSignals([leadership.ended, stopping]);
  const session = new LeaderSession(leadership, context);
  try {
    if (!(await confirmCaches(context, over.signal))) return;
    onSession(session);
    session.start();
    await whenAborted(over.signal);
  } finally {
    onSession(undefined);
    over.end();
    await endSession(session, { context, stopping });
  }
}

/** False when the session's time was over before. */
async function confirmCaches({ caches, logger }: OperatorContext, over: AbortSignal): Promise<boolean> {
  try {
    await caches.confirm(over);
    logger.info("Caches are up to date");
  } catch (error) {
    if (!over.aborted) throw error;
  }
  return !over.aborted;
}

async function endSession(
  session: LeaderSession,
  { context: { timers }, stopping }: Pick<LeaderLoopOptions, "context" | "stopping">,
): Promise<void> {
  const stuck = Promise.withResolvers<void>();
  const stopTimer = timers.after(stuckMs, () => {
    if (!stopping.aborted) stuck.reject(new SessionStuck("The work of a former session does not end"));
  });
  try {
    await Promise.race([session.stop(), stuck.promise]);
  } finally {
    stopTimer();
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
