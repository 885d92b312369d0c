// Checks who was let in: what was revoked stays out once every replica has had time to hear of it,
// on each of them and for good; what was not revoked is never refused.

import { type Access, type Entry, grouped, only, type Revoked } from "../history.ts";
import { type CheckResult, joined } from "./check-result.ts";

/** Milliseconds until a replica that missed every hint has heard of it. */
export const revocationLimit = 10_000;

export function checkAccess(entries: readonly Entry[], slack: number): CheckResult {
  const losses = only(entries, "loss");
  const limit = revocationLimit * slack;
  const revoked = new Map(only(entries, "revoked").map((each) => [each.credential, each]));
  const uses = grouped(only(entries, "access"), ({ credential }) => credential);
  return joined(
    [...uses].map(([credential, used]) => {
      const end = revoked.get(credential);
      const mayBeLost = end !== undefined && losses.some(({ from, to }) => end.to >= from && end.to <= to);
      return { violations: mayBeLost ? [] : used.flatMap((use) => faultOf(use, end, limit)) };
    }),
  );
}

function faultOf(use: Access, end: Revoked | undefined, limit: number): readonly string[] {
  const { credential, replica, admitted, from, to } = use;
  if (!admitted && (end === undefined || to < end.from)) {
    return [`${replica} refused ${credential} at ${Math.round(to)}, which stands`];
  }
  if (admitted && end !== undefined && from > end.to + limit) {
    return [`${replica} let ${credential} in, ${Math.round(from - end.to)} ms after it was revoked`];
  }
  return [];
}

/**
 * Milliseconds from the slowest revocation's acknowledgement to the last request that was let in; 0
 * when none was.
 */
export function slowestRevocation(entries: readonly Entry[]): number {
  const revoked = new Map(only(entries, "revoked").map((each) => [each.credential, each.to]));
  const times = only(entries, "access").flatMap(({ credential, admitted, from }) => {
    const end = revoked.get(credential);
    return admitted && end !== undefined && from > end ? [from - end] : [];
  });
  return Math.max(0, ...times);
}
