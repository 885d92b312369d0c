// The names, labels and annotations of the Secrets that jsonplane makes. Labels only claim whose a
// Secret is; its HMAC proves it, see resolve/own-secret.ts.

import type { Secret } from "../../core/manifests/object.ts";
import type { ApiKey, CustomResource } from "./objects.ts";

export const managedByLabel = "app.kubernetes.io/managed-by";
export const managedBy = "jsonplane";

export const kindLabel = "jsonplane.io/kind";
export const nameLabel = "jsonplane.io/name";
/**
 * Where the Secret was made. Copies in other namespaces have the labels, too, and are left alone.
 */
export const namespaceAnnotation = "jsonplane.io/namespace";
/** Whose it is: the UID of the object. A later object of that name is another one. */
export const ownerAnnotation = "jsonplane.io/owner-uid";
/** The Project that it was made for: what lets into one Project never lets into another. */
export const projectAnnotation = "jsonplane.io/project";
/** Proves that the installation made the Secret for the object of that UID. */
export const hmacAnnotation = "jsonplane.io/seal";
/**
 * When and for which rotation the key or password was made, and until when the former key works.
 */
export const rotationAnnotation = "jsonplane.io/rotation";

/** All labels, annotations and entries of Secrets that jsonplane writes. */
export const secretLabels: readonly string[] = [managedByLabel, kindLabel, nameLabel];
export const secretAnnotations: readonly string[] = [
  namespaceAnnotation,
  ownerAnnotation,
  projectAnnotation,
  hmacAnnotation,
  rotationAnnotation,
];
const signingEntries: readonly string[] = ["ring", "rotation"];
const hashEntry = "record";
export const secretEntries: readonly string[] = [
  ...signingEntries,
  hashEntry,
  ...["apiKey", "id", "baseURL", "username", "password"],
];

export function keySecretName(key: ApiKey): string {
  return key.spec.secretName ?? `${key.metadata.name}-api-key`;
}

export function passwordSecretName(user: { readonly metadata: { readonly name: string } }): string {
  return `${user.metadata.name}-password`;
}

export function userHashSecretName(user: { readonly metadata: { readonly name: string } }): string {
  return `${user.metadata.name}-user-hash`;
}

export function signingSecretName(project: { readonly metadata: { readonly name: string } }): string {
  return `${project.metadata.name}-signing`;
}

/**
 * Labels of the Secrets of one object. The object's own labels are never copied: Argo CD would
 * prune the Secret.
 */
export function ownLabels(owner: CustomResource): Readonly<Record<string, string>> {
  return {
    [managedByLabel]: managedBy,
    [kindLabel]: owner.kind,
    [nameLabel]: owner.metadata.name,
  };
}

/** Which object of which Project a Secret is for, beyond the name. */
export function ownerAnnotations(owner: CustomResource): Readonly<Record<string, string>> {
  const project = owner.kind === "Project" ? owner.metadata.name : owner.spec.projectRef.name;
  return { [ownerAnnotation]: owner.metadata.uid, [projectAnnotation]: project };
}

/** Whether it claims to be of an object of this name. Anybody can write these labels. */
export function hasLabelsOf(owner: CustomResource, secret: Secret): boolean {
  const labels = secret.metadata.labels ?? {};
  return labels[kindLabel] === owner.kind && labels[nameLabel] === owner.metadata.name;
}

/** The entries that the HMAC covers: those that nobody else may change. */
export function hmacEntriesOf(owner: CustomResource, secretName: string): readonly string[] {
  switch (owner.kind) {
    case "Project":
      return signingEntries;
    case "ApiKey":
      return ["apiKey"];
    case "ProjectUser":
      return secretName === userHashSecretName(owner) ? [hashEntry] : [];
    default:
      return [];
  }
}

/** Whether the entry is one that jsonplane writes for itself. */
export function isInternalEntry(secret: Secret, entry: string): boolean {
  const isOurs = secret.metadata.labels?.[kindLabel] !== undefined;
  return isOurs && [...signingEntries, hashEntry].includes(entry);
}

/** The Secrets that jsonplane keeps for an object, whether they exist or not. */
export function ownSecretNames(object: CustomResource): readonly string[] {
  switch (object.kind) {
    case "Project":
      return [signingSecretName(object)];
    case "ProjectUser":
      return [passwordSecretName(object), userHashSecretName(object)];
    case "ApiKey":
      return [keySecretName(object)];
    case "ApiResource":
    case "RootKey":
      return [];
  }
}
