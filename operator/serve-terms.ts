// From one term as the leader to the next: waits for the Lease, leads until it is lost, and stands by again. Nothing of a term
// outlives it: the session that wrote has ended before the Lease is asked for anew, so that a paused process that wakes up
// finds all its writes refused.

import { waited } from "../core/timers.ts";
import { joinSignals } from "./kube/deadline.ts";
import type { Elector } from "./lead/elector.ts";
import type { Leadership } from "./lead/leadership.ts";
import { LeaderSession } from "./leader-session.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface TermsOptions {
  readonly elector: Elector;
  readonly context: OperatorContext;
  /** Ends the term and gives the Lease back. */
  readonly stopping: AbortSignal;
  /** Told of the session that leads now; undefined = this process stands by. */
  readonly onTurn: (session: LeaderSession | undefined) => void;
}

/** What was under way when leadership was lost has ended by then, or never will. */
const stuckMs = 60_000;
const syncLookMs = 20;

/** Resolves when it was stopped; rejects when this process can't lead any more. */
export async function serveTerms({ elector, context, stopping, onTurn }: TermsOptions): Promise<void> {
  while (!stopping.aborted) {
    const leadership = await acquired(elector, stopping);
    if (leadership !== undefined) await serve(leadership, { context, stopping, onTurn });
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

async function serve(
  leadership: Leadership,
  { context, stopping, onTurn }: Omit<TermsOptions, "elector">,
): Promise<void> {
  const { caches, timers } = context;
  const over = joinSignals([leadership.ended, stopping]);
  const session = new LeaderSession(leadership, context);
  try {
    while (!caches.synced() && !over.signal.aborted) await waited(timers, syncLookMs, over.signal);
    if (over.signal.aborted) return;
    onTurn(session);
    session.start();
    await whenAborted(over.signal);
  } finally {
    onTurn(undefined);
    over.end();
    await ended(session, { context, stopping });
  }
}

async function ended(
  session: LeaderSession,
  { context: { timers }, stopping }: Pick<TermsOptions, "context" | "stopping">,
): Promise<void> {
  const stuck = Promise.withResolvers<void>();
  const stopTimer = timers.after(stuckMs, () => {
    if (!stopping.aborted) stuck.reject(new Error("Work of a lost term does not end"));
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
