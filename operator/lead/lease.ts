// The Lease object of the API server: read, taken, released. The times in it are for people and for monitoring: no process decides by
// another process's clock.

import type { Json, JsonObject } from "../../core/config/types.ts";
import type { KubeObject, ObjectName } from "../kube/api.ts";
import { leaseType } from "../kube/resource-types.ts";

export interface LeaseRecord {
  /** Empty when no process holds it. */
  readonly holder: string;
  /** How long after its last sign of life the holder is left alone. */
  readonly durationMs: number;
  /** How often the holder has changed. */
  readonly transitions: number;
  /** Equal texts = nothing was renewed in between. */
  readonly text: string;
}

export interface LeaseHolder {
  readonly identity: string;
  readonly leaseDurationMs: number;
  /** Unix milliseconds. */
  readonly now: number;
}

export function leaseRecordOf(lease: KubeObject): LeaseRecord {
  const spec = specOf(lease);
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  const holder = typeof holderIdentity === "string" ? holderIdentity : "";
  return {
    holder,
    durationMs: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds * 1000 : 0,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    text: JSON.stringify(spec),
  };
}

/** A Lease that did not exist. */
export function newLease({ namespace, name }: ObjectName, holder: LeaseHolder): JsonObject {
  return leaseWith(
    { name, namespace },
    {
      ...holderSpec(holder),
      acquireTime: microTime(holder.now),
      leaseTransitions: 0,
    },
  );
}

/** The Lease renewed, or taken over from another holder. Its other members are kept. */
export function heldLease(lease: KubeObject, holder: LeaseHolder): JsonObject {
  const { holder: former, transitions } = leaseRecordOf(lease);
  const isSame = former === holder.identity;
  return leaseWith(lease.metadata as unknown as JsonObject, {
    ...specOf(lease),
    ...holderSpec(holder),
    ...(!isSame && { acquireTime: microTime(holder.now), leaseTransitions: transitions + 1 }),
  });
}

/** The Lease without a holder. One second, since the API server wants some, and a reader may go by it. */
export function releasedLease(lease: KubeObject, now: number): JsonObject {
  return leaseWith(lease.metadata as unknown as JsonObject, {
    ...specOf(lease),
    holderIdentity: "",
    leaseDurationSeconds: 1,
    acquireTime: microTime(now),
    renewTime: microTime(now),
  });
}

function holderSpec({ identity, leaseDurationMs, now }: LeaseHolder): JsonObject {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    renewTime: microTime(now),
  };
}

function leaseWith(metadata: JsonObject, spec: JsonObject): JsonObject {
  return { apiVersion: `${leaseType.group}/${leaseType.version}`, kind: leaseType.kind, metadata, spec };
}

function specOf(lease: KubeObject): { readonly [member: string]: Json } {
  return (lease["spec"] ?? {}) as { readonly [member: string]: Json };
}

/** RFC 3339 with six digits, as Kubernetes writes its MicroTime. */
export function microTime(unixMs: number): string {
  return new Date(unixMs).toISOString().replace("Z", "000Z");
}
