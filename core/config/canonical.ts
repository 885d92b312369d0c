// One text for equal configuration: members are sorted at every level. Their order matters only in
// `compile`.

import { createHash } from "node:crypto";

export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => sorted(member));
}

/** Of one configuration and of no other, whatever the order of its members. */
export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex").slice(0, 32);
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}
