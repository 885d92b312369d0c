// Whose a Redis is, by what it says of its owner and of its writer. Within one installation the holder of the Lease takes the epoch at once. What is
// of another one, or of one with a copy of the key ring, in another place, is taken only where a person has said so.

import { ForeignInstance, KeyRingCopied, type RedisRefused } from "./refusals.ts";

/** An installation, as a Redis names it. */
export interface Claimant {
  /** A hash that only its key ring gives. */
  readonly owner: string;
  /** Where its key ring is, which distinguishes it from one that has a copy of the ring; without `#`. */
  readonly place: string;
  /** The same place, as the version before this one named it. */
  readonly formerPlace?: string;
}

/** What Redis says. */
export interface Standing {
  /** Undefined = nobody's. */
  readonly owner: string | undefined;
  /** Empty = none. */
  readonly epoch: string;
}

/** Never one that was there before, whatever becomes of Redis: a count would begin anew. `name` = one publisher of one process. */
export function newEpoch(place: string, name: string, id: string): string {
  return `${place}#${name}#${id}`;
}

/** Empty where the epoch names none: an operator of an earlier version wrote it. */
export function placeOf(epoch: string): string {
  const [place = "", name, id, ...rest] = epoch.split("#");
  return name && id && rest.length === 0 ? place : "";
}

/** Why the Redis is to be left to another installation; undefined = it is `me`'s, or nobody's. */
export function refusalOf({ owner, epoch }: Standing, me: Claimant): RedisRefused | undefined {
  const place = placeOf(epoch);
  if (owner !== undefined && owner !== me.owner) return new ForeignInstance(place);
  if (place === "" || place === me.place || place === me.formerPlace) return undefined;
  return new KeyRingCopied(place);
}
