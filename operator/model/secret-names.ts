// What the Secrets that jsonplane makes are called, and the labels and annotations that they carry. Labels only claim whose a Secret
// is: what proves it is the seal, see secret-seal.ts.

import type { Secret } from "../../core/manifests/object.ts";
import type { ApiKey, CustomResource } from "./objects.ts";

export const managedByLabel = "app.kubernetes.io/managed-by";
export const managedBy = "jsonplane";

export const kindLabel = "jsonplane.io/kind";
export const nameLabel = "jsonplane.io/name";
/** Where the Secret was made: what copies Secrets to other namespaces copies labels too, and copies are left alone. */
export const namespaceAnnotation = "jsonplane.io/namespace";
/** Whose it is: the UID of the object. A later object of that name is another one. */
export const ownerAnnotation = "jsonplane.io/owner-uid";
/** The Project that it was made for: what lets into one Project never lets into another. */
export const projectAnnotation = "jsonplane.io/project";
/** Proves that the installation made the Secret for the object of that UID. */
export const sealAnnotation = "jsonplane.io/seal";
/** Which rotation the value was made for. */
export const rotationAnnotation = "jsonplane.io/rotation";

/** All labels, annotations and entries of Secrets that jsonplane writes. */
export const secretLabels: readonly string[] = [managedByLabel, kindLabel, nameLabel];
export const secretAnnotations: readonly string[] = [
  namespaceAnnotation,
  ownerAnnotation,
  projectAnnotation,
  sealAnnotation,
  rotationAnnotation,
];
const signingEntries: readonly string[] = ["ring", "projectKey", "rotation"];
const recordEntry = "record";
export const secretEntries: readonly string[] = [
  ...signingEntries,
  recordEntry,
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

export function keyHashSecretName(key: { readonly metadata: { readonly name: string } }): string {
  return `${key.metadata.name}-key-hash`;
}

export function signingSecretName(project: { readonly metadata: { readonly name: string } }): string {
  return `${project.metadata.name}-signing`;
}

/** Labels of the Secrets of one object. The object's own labels are never copied: Argo CD would prune the Secret. */
export function ownLabels(owner: CustomResource): Readonly<Record<string, string>> {
  return {
    [managedByLabel]: managedBy,
    [kindLabel]: owner.kind,
    [nameLabel]: owner.metadata.name,
  };
}

/** Which object of which Project a Secret is for, beyond the name. */
export function ownerMarks(owner: CustomResource): Readonly<Record<string, string>> {
  const project = owner.kind === "Project" ? owner.metadata.name : owner.spec.projectRef.name;
  return { [ownerAnnotation]: owner.metadata.uid, [projectAnnotation]: project };
}

/** Whether it claims to be of an object of this name. Anybody can write these labels. */
export function hasLabelsOf(owner: CustomResource, secret: Secret): boolean {
  const labels = secret.metadata.labels ?? {};
  return labels[kindLabel] === owner.kind && labels[nameLabel] === owner.metadata.name;
}

/** The entries that nobody but jsonplane changes. Of a key or password, what people edit is compared with what was recorded. */
export function sealedEntriesOf(owner: CustomResource, secretName: string): readonly string[] {
  if (owner.kind === "Project") return signingEntries;
  const [, recordName] = ownSecretNames(owner);
  return secretName === recordName ? [recordEntry] : [];
}

/** Whether the entry is one that jsonplane writes for itself. */
export function isInternalEntry(secret: Secret, entry: string): boolean {
  const isOurs = secret.metadata.labels?.[kindLabel] !== undefined;
  return isOurs && [...signingEntries, recordEntry].includes(entry);
}

/** The Secrets that jsonplane keeps for an object, whether they exist or not. */
export function ownSecretNames(object: CustomResource): readonly string[] {
  switch (object.kind) {
    case "Project":
      return [signingSecretName(object)];
    case "ProjectUser":
      return [passwordSecretName(object), userHashSecretName(object)];
    case "ApiKey":
      return [keySecretName(object), keyHashSecretName(object)];
    case "ApiResource":
    case "RootKey":
      return [];
  }
}
