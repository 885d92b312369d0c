// The CustomResourceDefinition in the cluster may be of an earlier version, without fields that this operator reports. Server-side apply refuses
// a status with such a field as a whole; so the status is written without it, and the field is tried again after some minutes.

import type { Kind } from "../../core/manifests/object.ts";
import type { Monotonic } from "../../core/timers.ts";
import { ApiFailure } from "../kube/api.ts";
import type { Status } from "./object-status.ts";

export interface UndeclaredFields {
  /** The status without the fields that the API server has refused for this kind. */
  withoutUndeclared(kind: Kind, status: Status): Status;
  /** True if the failure names undeclared fields that were not known: the status can be written without them now. */
  learnFrom(kind: Kind, error: unknown): boolean;
}

export interface UndeclaredFieldsDeps {
  readonly monotonic: Monotonic;
  /** Called when fields are left out from now on: the definition should be updated. */
  readonly onUndeclared: (kind: Kind, fields: readonly string[]) => void;
}

/** Milliseconds after which a field is tried again: the definition may have been updated. */
const retryMs = 600_000;
/** As in `failed to create typed patch object (…): .status.effectiveLimits: field not declared in schema`. */
const undeclaredField = /\.status\.(\w+)[^:\n]*: field not declared in schema/g;

export function createUndeclaredFields({ monotonic, onUndeclared }: UndeclaredFieldsDeps): UndeclaredFields {
  /** By kind, the fields with the time when they were refused. */
  const refused = new Map<Kind, Map<string, number>>();

  const isLeftOut = (kind: Kind, field: string): boolean => {
    const since = refused.get(kind)?.get(field);
    return since !== undefined && monotonic() - since < retryMs;
  };

  return {
    withoutUndeclared(kind, status) {
      if (!refused.has(kind)) return status;
      return Object.fromEntries(
        Object.entries(status).filter(([field]) => !isLeftOut(kind, field)),
      ) as unknown as Status;
    },
    learnFrom(kind, error) {
      if (!(error instanceof ApiFailure)) return false;
      const named = [...error.message.matchAll(undeclaredField)].map(([, field = ""]) => field);
      // Without conditions there is no status.
      const fields = [...new Set(named)].filter((field) => field !== "conditions" && !isLeftOut(kind, field));
      if (fields.length === 0) return false;
      const known = refused.get(kind) ?? new Map<string, number>();
      for (const field of fields) known.set(field, monotonic());
      refused.set(kind, known);
      onUndeclared(kind, fields);
      return true;
    },
  };
}
