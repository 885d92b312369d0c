// What the resolve stage wants written, before anything that depends on it is published: whole Secrets, in order.

import type { Secret } from "../../core/manifests/object.ts";
import { ownLabels, rotationAnnotation } from "../model/secret-names.ts";
import { marksOf, type Sealing } from "./secret-seal.ts";

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
}

export interface SecretContent {
  readonly name: string;
  readonly type?: SecretWrite["type"];
  readonly entries: Readonly<Record<string, string>>;
  /** Unset, the mark of the rotation stays as it is. */
  readonly mark?: Readonly<Record<string, string>>;
  readonly causeId?: string;
}

/** A write of a Secret of the seal's owner; `found` is the one that is there now. */
export function writeOf(sealing: Sealing, found: Secret | undefined, content: SecretContent): SecretWrite {
  const { owner } = sealing;
  const { namespace } = owner.metadata;
  const marks = marksOf(content.name, (entry) => content.entries[entry], sealing);
  const version = found?.metadata.resourceVersion;
  return {
    mode: found === undefined ? "create" : "replace",
    ...(version !== undefined && { resourceVersion: version }),
    namespace,
    name: content.name,
    type: content.type ?? "Opaque",
    labels: ownLabels(owner),
    annotations: { ...marks, ...(content.mark ?? presentMark(found)) },
    entries: content.entries,
    ...(content.causeId !== undefined && { causeId: content.causeId }),
  };
}

function presentMark(found: Secret | undefined): Readonly<Record<string, string>> {
  const mark = found?.metadata.annotations?.[rotationAnnotation];
  return mark === undefined ? {} : { [rotationAnnotation]: mark };
}

/** The Secret as it stands once it has been written. */
export function writtenSecret({ namespace, name, type, labels, annotations, entries }: SecretWrite): Secret {
  const data = new Map(Object.entries(entries).map(([entry, text]) => [entry, Buffer.from(text)]));
  return { kind: "Secret", metadata: { namespace, name, labels, annotations }, type, data };
}

export function entriesOf({ data }: Secret): Readonly<Record<string, string>> {
  return Object.fromEntries([...data].map(([entry, bytes]) => [entry, Buffer.from(bytes).toString("utf8")]));
}
