// What every Kubernetes object has, and the kinds that this product declares. The rest of each kind
// is generated from its CRD.
import type { Json } from "../config/types.ts";

export const group = "jsonplane.io";
/** What the API server stores, and the operator reads and writes. */
export const version = "v1alpha1";
export const apiVersion = `${group}/${version}`;
/** All that are served, with one schema (docs/adr/0099-two-versions-have-one-schema.md). */
export const servedVersions: readonly string[] = [version, "v1beta1"];

export function isServed(apiVersion: unknown): boolean {
  return servedVersions.some((each) => apiVersion === `${group}/${each}`);
}

export const kinds = ["Project", "ApiResource", "ProjectUser", "ApiKey", "RootKey"] as const;
export type Kind = (typeof kinds)[number];

/**
 * The used members of `metadata`. What the API server fills in is absent in a manifest from a file.
 */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  /** RFC 3339. */
  readonly creationTimestamp?: string;
  /** RFC 3339; set while the object is being deleted. */
  readonly deletionTimestamp?: string;
  readonly labels?: { readonly [name: string]: string };
  readonly annotations?: { readonly [name: string]: string };
  readonly finalizers?: readonly string[];
}

/** As Kubernetes has it in the status of every kind. */
export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly observedGeneration?: number;
  /** RFC 3339. */
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

/** A Kubernetes object of any kind, before anything about it is known to be right. */
export type UncheckedObject = { readonly [name: string]: Json };

/** A Secret: its entries decoded, `stringData` winning over `data` as in Kubernetes. */
export interface Secret {
  readonly kind: "Secret";
  readonly metadata: ObjectMeta;
  readonly type: string;
  /** The API server refuses to change it. */
  readonly immutable?: true;
  /** Entry name → bytes. */
  readonly data: ReadonlyMap<string, Uint8Array>;
}

export function isKind(text: unknown): text is Kind {
  return kinds.some((kind) => kind === text);
}
