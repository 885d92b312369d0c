// Whether this replica's key ring is the one that the configuration in Redis is sealed with.

import { ringMarkOf } from "../../core/config/ring-mark.ts";
import type { FollowedKeyring } from "./follow-keyring.ts";

export type RingFit = "fits" | "another";

export interface RingFitting {
  /** As of the last comparison; `fits` before the first. */
  current(): RingFit;
  /** With the mark that Redis holds; undefined = written by an operator of an earlier version, which fits. */
  compare(mark: string | undefined): Promise<RingFit>;
}

/** Calls `onChange` at each change. */
export function createRingFit(keyring: FollowedKeyring, onChange?: (ring: RingFit) => void): RingFitting {
  let current: RingFit = "fits";
  const evaluate = (mark: string | undefined): RingFit =>
    mark === undefined || ringMarkOf(keyring.current()) === mark ? "fits" : "another";
  return {
    current: () => current,
    async compare(mark) {
      // The Secret may have been mounted anew just now.
      if (evaluate(mark) === "another") await keyring.look();
      const found = evaluate(mark);
      if (found !== current) onChange?.(found);
      current = found;
      return found;
    },
  };
}
