// Which installation of jsonplane something was written by. An installation is the operators of one class in one namespace, with the key
// ring that is kept there; what it makes names it in the annotation `jsonplane.io/installation`, as `<namespace>/<Secret of the ring>/<id>`.

import { type Keyring, keyedHash } from "../../core/config/keyring.ts";
import type { ObjectName } from "../kube/api.ts";

export interface Installation {
  /** Where its operators run. */
  readonly namespace: string;
  /** Name of the Secret of its key ring, which follows from its class. */
  readonly ringSecretName: string;
  /** A hash that only this ring gives; it outlives every rotation. */
  readonly id: string;
}

/** Distinguishes installations without reading a key ring: two of one class are never in one namespace. */
export type RingLocation = Pick<Installation, "namespace" | "ringSecretName">;

export function installationOf(ring: Keyring, { namespace, name }: ObjectName): Installation {
  return { namespace, ringSecretName: name, id: keyedHash(ring, "content", "installation").slice(0, 32) };
}

export function installationText({ namespace, ringSecretName, id }: Installation): string {
  return `${namespace}/${ringSecretName}/${id}`;
}

/** What Kubernetes takes as the name of a namespace: a label of RFC 1123. */
const namespaceName = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Undefined for a text that no installation has written. */
export function parseInstallation(text: string): Installation | undefined {
  const [namespace, ringSecretName, id, ...rest] = text.split("/");
  if (!ringSecretName || !id || rest.length > 0) return undefined;
  if (namespace === undefined || !namespaceName.test(namespace)) return undefined;
  return { namespace, ringSecretName, id };
}

/**
 * Whether both serve the same Projects, as far as can be seen from here. One of another class never does, whatever it made for an earlier
 * Project of the name. One whose ring was in the place where ours is now is gone: its ring was lost, or this one was installed again.
 * In another namespace it is another one, also where its ring is a copy of ours: each has a Lease of its own, and both may run.
 */
export function areRivals(one: RingLocation, other: RingLocation): boolean {
  return one.ringSecretName === other.ringSecretName && one.namespace !== other.namespace;
}
