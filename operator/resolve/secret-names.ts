// What the Secrets that jsonplane makes are called, and how it tells its own from foreign ones: by label, so that a Secret
// of another owner is never overwritten, and a restored backup is recognised.

import type { Kind, Secret } from "../../core/manifests/object.ts";
import type { ApiKey, CustomResource } from "../objects.ts";

export const kindLabel = "jsonplane.io/kind";
export const nameLabel = "jsonplane.io/name";

export function keySecretName(key: ApiKey): string {
  return key.spec.secretName ?? `${key.metadata.name}-api-key`;
}

export function passwordSecretName(user: { readonly metadata: { readonly name: string } }): string {
  return `${user.metadata.name}-password`;
}

export function userHashSecretName(user: { readonly metadata: { readonly name: string } }): string {
  return `${user.metadata.name}-user-hash`;
}

export function keyHashSecretName(key: { readonly metadata: { readonly name: string } }): string {
  return `${key.metadata.name}-key-hash`;
}

export function signingSecretName(project: { readonly metadata: { readonly name: string } }): string {
  return `${project.metadata.name}-signing`;
}

/** Labels of the Secrets of one object. The object's own labels are never copied: Argo CD would prune the Secret. */
export function ownLabels(owner: CustomResource): Readonly<Record<string, string>> {
  return {
    "app.kubernetes.io/managed-by": "jsonplane",
    [kindLabel]: owner.kind,
    [nameLabel]: owner.metadata.name,
  };
}

export function isOwn(secret: Secret, owner: CustomResource): boolean {
  const labels = secret.metadata.labels ?? {};
  return labels[kindLabel] === owner.kind && labels[nameLabel] === owner.metadata.name;
}

export interface SecretOwner {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}
