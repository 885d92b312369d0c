// What the resolve stage wants written, before anything that depends on it is published: whole Secrets, in order.

import type { Secret } from "../../core/manifests/object.ts";
import type { CustomResource } from "../model/objects.ts";
import { namespaceAnnotation, ownerMarks, ownLabels, rotationAnnotation } from "../model/secret-names.ts";

export interface SecretWrite {
  /** `create` must fail where a Secret of that name exists; `replace` must fail where it has changed since it was read. */
  readonly mode: "create" | "replace";
  /** The version that is to be replaced, where Secrets have versions. */
  readonly resourceVersion?: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: "Opaque" | "kubernetes.io/basic-auth";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly entries: Readonly<Record<string, string>>;
  /**
   * Writes with the same cause count as one repetition for the repair limiter, even if the value is new. Absent: entries are compared.
   */
  readonly causeId?: string;
  /**
   * The owner, whose credential from before is written into a Secret that was lost. It must be looked up first: where a namespace was recreated, the
   * lost Secret may be the only thing that was heard of it, and the credential belongs to an object that is gone.
   */
  readonly restoredFor?: CustomResource;
}

export interface SecretContent {
  readonly name: string;
  readonly type?: SecretWrite["type"];
  readonly entries: Readonly<Record<string, string>>;
  /** Unset, the mark of the rotation stays as it is. */
  readonly mark?: Readonly<Record<string, string>>;
  readonly causeId?: string;
  /** A credential from before, as opposed to one that was just made. */
  readonly isRestored?: boolean;
}

/** A write of a Secret of `owner`; `found` is the one that is there now. */
export function writeOf(owner: CustomResource, found: Secret | undefined, content: SecretContent): SecretWrite {
  const { namespace } = owner.metadata;
  const version = found?.metadata.resourceVersion;
  return {
    mode: found === undefined ? "create" : "replace",
    ...(version !== undefined && { resourceVersion: version }),
    namespace,
    name: content.name,
    type: content.type ?? "Opaque",
    labels: ownLabels(owner),
    annotations: { [namespaceAnnotation]: namespace, ...ownerMarks(owner), ...(content.mark ?? presentMark(found)) },
    entries: content.entries,
    ...(content.causeId !== undefined && { causeId: content.causeId }),
    ...(content.isRestored === true && found === undefined && { restoredFor: owner }),
  };
}

function presentMark(found: Secret | undefined): Readonly<Record<string, string>> {
  const mark = found?.metadata.annotations?.[rotationAnnotation];
  return mark === undefined ? {} : { [rotationAnnotation]: mark };
}

/** The text of an entry, or undefined when it is absent or empty. */
export function entryText(secret: Secret | undefined, entry: string): string | undefined {
  const bytes = secret?.data.get(entry);
  return bytes === undefined || bytes.length === 0 ? undefined : Buffer.from(bytes).toString("utf8");
}

/** The Secret as it stands once it has been written. */
export function writtenSecret({ namespace, name, type, labels, annotations, entries }: SecretWrite): Secret {
  const data = new Map(Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text)]));
  return { kind: "Secret", metadata: { namespace, name, labels, annotations }, type, data };
}
