// Turns what was read from files into checked manifests and Secrets, each compared with the version
// that was accepted before, and into the problems of those that are refused, with file, line and
// column.

import { valueAtPointer } from "../../core/json/json-pointer.ts";
import { type ManifestProblem, typeName } from "../../core/manifests/field-errors.ts";
import { annotationBytes, maxAnnotationBytes } from "../../core/manifests/metadata.ts";
import { kinds, type Secret, type UncheckedObject } from "../../core/manifests/object.ts";
import { readSecret } from "../../core/manifests/secret.ts";
import { type Manifest, validateManifest } from "../../core/manifests/validate-manifest.ts";
import type { ReadManifests } from "./read-manifests.ts";
import type { SourcedObject, SourceProblem } from "./source.ts";

export interface CheckedManifest {
  readonly manifest: Manifest;
  readonly source: SourcedObject;
}

export interface CheckedSecret {
  readonly secret: Secret;
  readonly source: SourcedObject;
}

export interface CheckedManifests {
  readonly manifests: readonly CheckedManifest[];
  readonly secrets: readonly CheckedSecret[];
  /** Those of reading first. */
  readonly problems: readonly SourceProblem[];
}

/** `accepted` holds the last accepted version of each object by `Kind/namespace/name`. */
export function checkManifests(
  read: ReadManifests,
  accepted: ReadonlyMap<string, Manifest> = new Map(),
): CheckedManifests {
  const manifests: CheckedManifest[] = [];
  const secrets: CheckedSecret[] = [];
  const problems: SourceProblem[] = [...read.problems];
  const seen = new Map<string, SourcedObject>();
  for (const source of read.objects) {
    const first = seen.get(source.subject);
    if (first !== undefined) {
      const message = `${source.subject} is there twice, first in ${first.file}:${first.line}`;
      problems.push({ file: source.file, ...source.positionOf("/metadata/name"), pointer: "/metadata/name", message });
      continue;
    }
    seen.set(source.subject, source);
    const checked = checkObject(source, accepted.get(source.subject));
    if ("manifest" in checked) manifests.push(checked);
    else if ("secret" in checked) secrets.push(checked);
    else problems.push(...checked.problems);
  }
  return { manifests, secrets, problems };
}

function checkObject(
  source: SourcedObject,
  accepted: Manifest | undefined,
): CheckedManifest | CheckedSecret | Pick<CheckedManifests, "problems"> {
  const fault = sizeFault(source.object);
  if (fault !== undefined) return { problems: [located(source, { pointer: "", detail: fault })] };
  const isSecret = source.object["kind"] === "Secret";
  const result = isSecret ? readSecret(source.object) : validateManifest(source.object, accepted);
  if (!result.ok) return { problems: result.problems.map((problem) => located(source, problem)) };
  return "secret" in result ? { secret: result.secret, source } : { manifest: result.object, source };
}

/** Whether it is unknown which objects the file has: a document, kind or name is invalid. */
export function hidesObjects({ subject, isUnread }: SourceProblem): boolean {
  if (isUnread || subject === undefined || subject.includes("?")) return true;
  const kind = subject.slice(0, subject.indexOf("/"));
  return kind !== "Secret" && !kinds.some((known) => known === kind);
}

/** A problem of an object with its position in the file. */
export function located(source: SourcedObject, problem: Pick<ManifestProblem, "pointer" | "detail">): SourceProblem {
  const { pointer, detail } = problem;
  const unknown = detail.startsWith("unknown field");
  return {
    file: source.file,
    ...(unknown ? source.positionOfKey(pointer) : source.positionOf(pointer)),
    subject: source.subject,
    pointer,
    message: `${detail}${hint(source, problem)}`,
  };
}

/** Why a text without quotes is no text. What a Secret holds is not repeated. */
function hint(source: SourcedObject, { pointer, detail }: Pick<ManifestProblem, "pointer" | "detail">): string {
  const plain = source.plainText(pointer);
  const value = valueAtPointer(source.object, pointer);
  if (plain === undefined || plain === "" || value === undefined || typeof value === "string") return "";
  if (source.object["kind"] === "Secret") return ": write the value in quotes";
  if (plain !== String(value)) {
    const quoted = detail.includes("must be of type string") ? `: write "${plain}"` : "";
    return ` (the unquoted ${plain} is the ${typeName(value)} ${String(value)}${quoted})`;
  }
  return /must be of type string: "\w+"$/.test(detail) ? `: write "${plain}" in quotes` : "";
}

/** etcd takes 1.5 MiB. The API server adds its own fields and, for each field, who wrote it. */
const maxStoredBytes = 1_500_000;
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Why no cluster can store it; undefined where one can. */
function sizeFault(object: UncheckedObject): string | undefined {
  const bytes = jsonBytes(object);
  return bytes > maxStoredBytes ? `Too long: ${bytes} bytes as JSON, a cluster stores ${maxStoredBytes}` : undefined;
}

/** What `kubectl apply` refuses: it keeps the manifest in an annotation. */
export function sizeNote(object: UncheckedObject): string | undefined {
  const { metadata } = object;
  const annotations = typeof metadata === "object" && metadata !== null && "annotations" in metadata ? metadata : {};
  const bytes = jsonBytes(object) + lastApplied.length + annotationBytes(annotations["annotations"]);
  return bytes > maxAnnotationBytes
    ? "Is too long for `kubectl apply`, which keeps it in an annotation: use `kubectl apply --server-side`"
    : undefined;
}

function jsonBytes(object: UncheckedObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}
