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
  /** The ServiceAccount of the holder, as it wrote there. */
  readonly account: HolderAccount | undefined;
  /** The release whose operator held it last, or holds it; absent = none said so. */
  readonly release: string | undefined;
  /** Equal texts = nothing was renewed in between. */
  readonly text: string;
}

/** Identifies a ServiceAccount: a recreated one has another UID. */
export interface HolderAccount {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface LeaseHolder {
  readonly identity: string;
  readonly account: HolderAccount | undefined;
  readonly release: string | undefined;
  readonly leaseDurationMs: number;
  /** Unix milliseconds. */
  readonly now: number;
}

const accountAnnotation = "jsonplane.io/holder-account";
const releaseAnnotation = "jsonplane.io/release";

export function leaseRecordOf(lease: KubeObject): LeaseRecord {
  const spec = specOf(lease);
  const { holderIdentity, leaseDurationSeconds, leaseTransitions } = spec;
  const holder = typeof holderIdentity === "string" ? holderIdentity : "";
  return {
    holder,
    durationMs: typeof leaseDurationSeconds === "number" ? leaseDurationSeconds * 1000 : 0,
    transitions: typeof leaseTransitions === "number" ? leaseTransitions : 0,
    account: accountOf(lease.metadata.annotations?.[accountAnnotation], holder),
    release: lease.metadata.annotations?.[releaseAnnotation],
    text: JSON.stringify(spec),
  };
}

/** A Lease that did not exist. */
export function newLease({ namespace, name }: ObjectName, holder: LeaseHolder): JsonObject {
  return leaseWith(holderMetadata({ name, namespace }, holder), {
    ...holderSpec(holder),
    acquireTime: microTime(holder.now),
    leaseTransitions: 0,
  });
}

/** The Lease renewed, or taken over from another holder. Its other members are kept. */
export function heldLease(lease: KubeObject, holder: LeaseHolder): JsonObject {
  const { holder: former, transitions } = leaseRecordOf(lease);
  const isSame = former === holder.identity;
  return leaseWith(holderMetadata(lease.metadata as unknown as JsonObject, holder), {
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

/**
 * Without an account the annotation is removed: a former holder's account is not this one's. The release stays: a holder that was
 * started without a release name, by hand or by an earlier version, leaves the Lease to the release that had it.
 */
function holderMetadata(metadata: JsonObject, { account, identity, release }: LeaseHolder): JsonObject {
  const { [accountAnnotation]: _, ...others } = (metadata["annotations"] ?? {}) as JsonObject;
  const own = account && { [accountAnnotation]: `${account.namespace}/${account.name}/${account.uid}/${identity}` };
  return { ...metadata, annotations: { ...others, ...own, ...(release && { [releaseAnnotation]: release }) } };
}

/** An earlier version that takes the Lease leaves there what the holder before it wrote. */
function accountOf(text: string | undefined, holder: string): HolderAccount | undefined {
  const [namespace, name, uid, ...identity] = (text ?? "").split("/");
  return namespace && name && uid && identity.join("/") === holder ? { namespace, name, uid } : undefined;
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
