// Whether this replica can read the configuration in Redis: it may be encrypted with another key
// ring, or written by a newer version.

import { isNewerFormat } from "../../core/config/fields.ts";
import { ringMarkOf } from "../../core/config/keyring.ts";
import type { FollowedKeyring } from "./follow-keyring.ts";

export type ConfigFit = "fits" | "another_ring" | "newer_format";

/** What Redis says of the configuration. */
export interface ConfigMarks {
  readonly ringMark: string | undefined;
  readonly format: string | undefined;
}

export interface ConfigFitting {
  /** As of the last comparison; `fits` before the first. */
  current(): ConfigFit;
  compare(marks: ConfigMarks): Promise<ConfigFit>;
}

/** Calls `onChange` at each change. */
export function createConfigFit(keyring: FollowedKeyring, onChange?: (fit: ConfigFit) => void): ConfigFitting {
  let current: ConfigFit = "fits";
  const evaluate = ({ ringMark, format }: ConfigMarks): ConfigFit => {
    if (isNewerFormat(format)) return "newer_format";
    return ringMarkOf(keyring.current()) === ringMark ? "fits" : "another_ring";
  };
  return {
    current: () => current,
    async compare(marks) {
      // The Secret may just have been mounted again.
      if (evaluate(marks) === "another_ring") await keyring.reread();
      const found = evaluate(marks);
      if (found !== current) onChange?.(found);
      current = found;
      return found;
    },
  };
}
