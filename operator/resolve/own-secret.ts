// The Secrets that the operator makes for an object: which of them may be used, and how they are
// written. A Secret has an HMAC with a key that only the operator has, over the object's UID and
// what nobody else may change. Of a Secret with the labels of its object,
//
//   one with a valid HMAC            is used
//   any, where a restore was asked   is used, and gets one
//   one of another object, whose HMAC this operator didn't make: SecretConflict, since it may come
//     from a backup
//   any other                        is not used, and the next write replaces it
//
// A Secret with other labels or none belongs to somebody else: SecretConflict.

import { createHmac, timingSafeEqual } from "node:crypto";
import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import { isRfc3339 } from "../../core/rfc3339.ts";
import type { CustomResource } from "../model/objects.ts";
import { adoptAnnotation } from "../model/project-objects.ts";
import {
  hasLabelsOf,
  hmacAnnotation,
  hmacEntriesOf,
  kindLabel,
  nameLabel,
  namespaceAnnotation,
  ownerAnnotation,
  ownerAnnotations,
  ownLabels,
  rotationAnnotation,
} from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import { type CredentialEvent, credentialEvent } from "./credential-event.ts";
import type { ResolveTools, SecretWrite } from "./resolution.ts";

export interface OwnSecret {
  /** What a write replaces; undefined: there is none. */
  readonly found: Secret | undefined;
  /** The same Secret where it is used. */
  readonly content: Secret | undefined;
  /** It is used because a person asked for that. */
  readonly isRestored: boolean;
  /** Its HMAC and the annotations that name its object are right, or there is no Secret. */
  readonly hasOwnAnnotations: boolean;
}

/** `isPublished`: a credential of this very object is. */
export function ownSecret(
  owner: CustomResource,
  name: string,
  tools: Pick<ResolveTools, "findSecret" | "hmacKey" | "restore">,
  isPublished: boolean,
): Result<OwnSecret> {
  const found = tools.findSecret(name);
  if (found === undefined) return used({ found, content: undefined, isRestored: false, hasOwnAnnotations: true });
  if (!hasLabelsOf(owner, found)) return refuse("SecretConflict", foreignSecret(found, owner));
  const annotations = found.metadata.annotations ?? {};
  const proof = proofAnnotations(owner, tools, {
    name,
    rotation: annotations[rotationAnnotation],
    entry: textIn(found),
  });
  if (isSameText(annotations[hmacAnnotation] ?? "", proof[hmacAnnotation] ?? "")) {
    const hasOwnAnnotations = Object.entries(proof).every(([name, value]) => annotations[name] === value);
    return used({ found, content: found, isRestored: false, hasOwnAnnotations });
  }
  // An annotation that stayed after a restore changes nothing of what is served.
  const isRestored = tools.restore === "all" || (tools.restore === "asked" && !isPublished);
  if (!isRestored && isOfBackup(owner, name, found, tools))
    return refuse("SecretConflict", unprovedSecret(owner, name));
  return used({ found, content: isRestored ? found : undefined, isRestored, hasOwnAnnotations: false });
}

function used(value: OwnSecret): Result<OwnSecret> {
  return { ok: true, value };
}

/** Made for an object of another UID, and not by this installation. */
function isOfBackup(owner: CustomResource, name: string, found: Secret, tools: Pick<ResolveTools, "hmacKey">): boolean {
  const {
    [ownerAnnotation]: uid,
    [rotationAnnotation]: rotation,
    [hmacAnnotation]: hmac,
  } = found.metadata.annotations ?? {};
  if (uid === undefined || uid === "" || uid === owner.metadata.uid) return false;
  const former = { ...owner, metadata: { ...owner.metadata, uid } } as CustomResource;
  const proof = proofAnnotations(former, tools, { name, rotation, entry: textIn(found) });
  return !isSameText(hmac ?? "", proof[hmacAnnotation] ?? "");
}

function unprovedSecret({ kind }: CustomResource, name: string): string {
  return `Secret "${name}" was made for another ${kind} and not by this installation, as in a backup; delete it, and a new one is made; to use what it holds, set the annotation ${adoptAnnotation}: "true" on the Project where the platform allows it, or start the operator with --adopt-data`;
}

function foreignSecret(secret: Secret, { kind }: CustomResource): string {
  const { name, labels } = secret.metadata;
  const { [kindLabel]: otherKind, [nameLabel]: otherName } = labels ?? {};
  const other = otherKind === undefined ? "" : `, but for ${otherKind} "${otherName}"`;
  const remedy = kind === "ApiKey" ? "delete it or choose another spec.secretName" : `delete it, or rename the ${kind}`;
  return `Secret "${name}" was not made for this ${kind}${other}; ${remedy}`;
}

/** What the annotation of a key or of a generated password says. */
export interface Rotation {
  /** `rotation.id` that it was made for; absent: the spec had none. */
  readonly id?: string;
  /** RFC 3339: when it was made. */
  readonly rotatedAt: string;
  /** SHA-256 of the former key, and the Unix second at which it stops working. */
  readonly former?: { readonly sha256: string; readonly retiresAt: number };
}

/**
 * Undefined unless the operator could have written it: that of a restored Secret may be anybody's.
 */
export function readRotation(secret: Secret | undefined): Rotation | undefined {
  const rotation = parseOrUndefined(secret?.metadata.annotations?.[rotationAnnotation] ?? "");
  if (!isObject(rotation)) return undefined;
  const { id, rotatedAt, former } = rotation;
  const isRotation =
    (id === undefined || (typeof id === "string" && id.length <= maxRotationId)) &&
    isRfc3339(rotatedAt) &&
    (former === undefined || (isObject(former) && isSha256(former.sha256) && isUnixTime(former.retiresAt)));
  return isRotation ? (rotation as unknown as Rotation) : undefined;
}

/** As in the CRDs. */
const maxRotationId = 64;

function isSha256(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** In the years that RFC 3339 can write. */
function isUnixTime(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < Date.UTC(10_000) / 1000;
}

export interface SecretContent extends Pick<SecretWrite, "name" | "entries" | "causeId"> {
  readonly type?: SecretWrite["type"];
  /** Absent: the annotation stays as it is. */
  readonly rotation?: Rotation;
}

/** `found` is the Secret that is there now. */
export function writeOf(
  owner: CustomResource,
  tools: Pick<ResolveTools, "hmacKey">,
  found: Secret | undefined,
  { name, entries, type = "Opaque", rotation, causeId }: SecretContent,
): SecretWrite {
  const present = found?.metadata.annotations?.[rotationAnnotation];
  const rotationText = rotation === undefined ? present : JSON.stringify(rotation);
  const proof = proofAnnotations(owner, tools, { name, rotation: rotationText, entry: (entry) => entries[entry] });
  const version = found?.metadata.resourceVersion;
  return {
    mode: found === undefined ? "create" : "replace",
    ...(version !== undefined && { resourceVersion: version }),
    namespace: owner.metadata.namespace,
    name,
    type,
    labels: ownLabels(owner),
    annotations: { ...proof, ...(rotationText !== undefined && { [rotationAnnotation]: rotationText }) },
    entries,
    ...(causeId !== undefined && { causeId }),
  };
}

/** The Secret as it is once it has been written. */
export function writtenSecret({ namespace, name, type, labels, annotations, entries }: SecretWrite): Secret {
  const data = new Map(Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text)]));
  return { kind: "Secret", metadata: { namespace, name, labels, annotations }, type, data };
}

/** Of Secrets that are written again without a new credential. */
export function rewritten(
  owner: CustomResource,
  writes: readonly SecretWrite[],
  isRestored: boolean,
): readonly CredentialEvent[] {
  return writes.map(({ name }) =>
    isRestored
      ? credentialEvent(owner, "CredentialRestored", `Took over what was found in Secret "${name}"`)
      : credentialEvent(owner, "SecretRepaired", `Wrote Secret "${name}" again, with the credential in use`),
  );
}

interface HmacInput {
  readonly name: string;
  readonly rotation: string | undefined;
  readonly entry: (entry: string) => string | undefined;
}

/** The annotations that name the object of a Secret, and prove it. */
function proofAnnotations(
  owner: CustomResource,
  { hmacKey }: Pick<ResolveTools, "hmacKey">,
  { name, rotation, entry }: HmacInput,
): Readonly<Record<string, string>> {
  const { namespace, name: ownerName, uid } = owner.metadata;
  const entries = hmacEntriesOf(owner, name).map((each) => entry(each) ?? "");
  const text = JSON.stringify(["secret", owner.kind, namespace, ownerName, uid, name, rotation ?? "", ...entries]);
  return {
    [namespaceAnnotation]: namespace,
    ...ownerAnnotations(owner),
    [hmacAnnotation]: createHmac("sha256", hmacKey).update(text).digest("base64url"),
  };
}

function textIn(secret: Secret): HmacInput["entry"] {
  return (entry) => entryText(secret, entry);
}

function isSameText(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
