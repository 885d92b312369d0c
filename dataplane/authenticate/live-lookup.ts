// Turns the directory's three answers into a value or nothing; `unavailable` is refused here, once, so that it never
// becomes a 401. It stays without a promise where the directory does.

import type { Lookup } from "../config/directory.ts";
import { projectUnavailable } from "./refusals.ts";

/** Hands the value, or undefined when it is known not to exist, to `next`. Throws Problem `project_unavailable`. */
export function withLive<T, R>(
  lookup: Lookup<T> | Promise<Lookup<T>>,
  next: (value: T | undefined) => R,
): R | Promise<R> {
  if (lookup instanceof Promise) return lookup.then((answer) => next(liveValue(answer)));
  return next(liveValue(lookup));
}

export function liveValue<T>(lookup: Lookup<T>): T | undefined {
  if (lookup.outcome === "unavailable") throw projectUnavailable();
  return lookup.outcome === "found" ? lookup.value : undefined;
}
