// What both sides know of a unique rule: its name, and the bound of its fields.

import type { UniqueRule } from "./types.ts";

/** Code points of a string in a rule; all of them count in an encoding of the store. */
export const maxUniqueLength = 256;

/** `unique(tenant,slug)`. */
export function nameOfRule({ fields }: UniqueRule): string {
  return `unique(${fields.map(({ name }) => name).join(",")})`;
}
