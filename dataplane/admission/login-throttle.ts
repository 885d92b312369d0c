// Counts failed logins over all replicas, per (user name, client address) and per (project,
// address). Never per user name alone: anybody could lock out anybody. Refuses with
// `login_throttled`.

import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { loginThrottled } from "../authenticate/refusals.ts";
import type { Budget, Counters } from "../store/ports/limits.ts";
import { addressGroup } from "./client-address.ts";

export interface LoginAttempt {
  readonly project: ProjectRef;
  readonly username: string;
  /** The client's address, trusted proxies resolved. */
  readonly address: string;
}

export interface Throttle {
  /** Throws Problem `login_throttled` when the store said so a moment ago; asks no store. */
  refuseKnown(attempt: LoginAttempt): void;
  /** Takes one failure before the password is checked. Throws Problem `login_throttled`. */
  spend(attempt: LoginAttempt): Promise<void>;
  /** Gives it back: the login succeeded, or was not checked. */
  refund(attempt: LoginAttempt): Promise<void>;
}

const windowSeconds = 300;
const failuresPerUserAndAddress = 10;
const failuresPerAddress = 100;
/** Milliseconds before the store is asked again about an exhausted budget. */
const rememberFor = 1000;
const maxRemembered = 10_000;

export function createThrottle(counters: Counters, clock: Clock): Throttle {
  /** By the name of the (user name, address) budget, in milliseconds of the monotonic clock. */
  const exhausted = recentlyUsed<{ readonly askAgain: number; readonly retryAt: number }>(maxRemembered);

  return {
    refuseKnown(attempt) {
      const name = budgetsOf(attempt)[0].name;
      const known = exhausted.get(name);
      const now = clock.monotonic();
      if (known === undefined) return;
      if (now < known.askAgain) throw loginThrottled((known.retryAt - now) / 1000);
      exhausted.delete(name);
    },
    async spend(attempt) {
      const budgets = budgetsOf(attempt);
      const result = await counters.spend(budgets);
      if (result.outcome === "spent") return;
      const now = clock.monotonic();
      const wait = result.retryAfterSeconds * 1000;
      exhausted.set(budgets[0].name, { askAgain: now + Math.min(rememberFor, wait), retryAt: now + wait });
      throw loginThrottled(result.retryAfterSeconds);
    },
    refund: (attempt) => counters.refund(budgetsOf(attempt)),
  };
}

function budgetsOf({ project, username, address }: LoginAttempt): readonly [Budget, Budget] {
  const from = `login:${project.namespace}/${project.name}:${addressGroup(address)}`;
  return [
    // The user name is last: whatever it contains, no two pairs share a budget.
    { name: `${from}:user:${username}`, limit: failuresPerUserAndAddress, windowSeconds },
    { name: `${from}:all`, limit: failuresPerAddress, windowSeconds },
  ];
}
