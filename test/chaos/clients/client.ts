// What clients of a run have in common: the replicas, the history, choices of their own, and the
// end.

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Asked, Asker, Target } from "../ask.ts";
import type { History, Outcome } from "../history.ts";
import { base } from "../project.ts";
import type { Random } from "../random.ts";
import type { EndsOfSessions } from "../world.ts";

export interface ClientDeps {
  readonly history: History;
  readonly asker: Asker;
  readonly random: Random;
  readonly replicas: () => readonly Target[];
  readonly credentials: { readonly worker: string; readonly victim: string };
  readonly stopped: () => boolean;
  /**
   * Of replicas: one may take a token for expired, and what it makes may be older than what was
   * there before.
   */
  readonly clocksJump: boolean;
  readonly ends: EndsOfSessions | undefined;
}

/** Milliseconds between two operations of a client, at most. */
const pause = 12;

/** Does one thing after the other until the run ends. */
export async function keepDoing({ stopped, random }: ClientDeps, step: () => Promise<unknown>): Promise<void> {
  while (!stopped()) {
    await step();
    await sleep(pause * random.fraction());
  }
}

/** Asks a replica at random. */
export function askOne({ asker, random, replicas, credentials }: ClientDeps, asked: Asked): Promise<Answer> {
  return asker.ask(random.pick(replicas()), { as: credentials.worker, ...asked, path: `${base}${asked.path}` });
}

/** Nothing is stored at this path; the other 404s deny what is declared. */
export function isMissing({ code }: Answer): boolean {
  return code === "not_found";
}

/** What the replica can't do now is no news; anything else that is not `expected` is. */
export function noteUnexpected(history: History, asked: Asked, answer: Answer, expected: Expected): void {
  const { status, text } = answer;
  const isExpected = expected.statuses.includes(status) && (status !== 404 || isMissing(answer));
  if (status === 0 || status === 503 || status === 507 || isExpected) return;
  history.unexpected(`${asked.method ?? "GET"} ${asked.path}: ${status} ${text.slice(0, 300)}`, expected.unlessLost);
}

export interface Expected {
  readonly statuses: readonly number[];
  /** When that was acknowledged which the statuses rest on. */
  readonly unlessLost?: number;
}

/** An acknowledgement has to say what was sent. */
export function checkedOutcome(history: History, answer: Answer, isRight: () => boolean): Outcome {
  if (answer.outcome === "done" && !isRight())
    history.unexpected(`Acknowledged as something else: ${answer.text.slice(0, 300)}`);
  return answer.outcome;
}
