// Turns a Secret of the API into its decoded entries, and a wanted Secret into what is sent.
// Nothing is refused: the API server has checked what it gives, and checks what it gets.

import type { JsonObject } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { KubeObject, ObjectName } from "../kube/api.ts";
import type { SecretWrite } from "../resolve/resolution.ts";

/** The Secret was made, changed or deleted since it was read: read it again, and decide again. */
export class SecretChanged extends Error {
  override readonly name = "SecretChanged";
}

export function secretChanged({ namespace, name }: ObjectName, cause?: unknown): SecretChanged {
  return new SecretChanged(`Secret "${namespace}/${name}" has changed since it was read`, { cause });
}

export function secretOf(object: KubeObject): Secret {
  const data = Object.entries(dataOf(object)).map(([entry, text]) => [entry, Buffer.from(text, "base64")] as const);
  return {
    kind: "Secret",
    metadata: object.metadata,
    type: typeof object["type"] === "string" ? object["type"] : "Opaque",
    ...(object["immutable"] === true && { immutable: true }),
    data: new Map(data),
  };
}

/** A Secret with metadata only: enough to see whose it is. */
export function unreadSecret({ metadata }: KubeObject): Secret {
  return { kind: "Secret", metadata, type: "Opaque", data: new Map() };
}

export function newSecret(write: SecretWrite): JsonObject {
  const { namespace, name, type, labels, annotations, entries } = write;
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels, annotations },
    type,
    data: encodedEntries(entries),
  };
}

/**
 * The Secret as it is with what `write` says; labels, annotations and entries of others stay, and
 * its type can't change.
 */
export function changedSecret(
  live: KubeObject,
  { labels, annotations, entries }: Pick<SecretWrite, "labels" | "annotations" | "entries">,
): JsonObject {
  const { metadata } = live;
  const changed = {
    ...live,
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
    data: { ...dataOf(live), ...encodedEntries(entries) },
  };
  return changed as unknown as JsonObject;
}

/** Bytes that a cached Secret takes, about. */
export function weightOf({ data }: Secret): number {
  let bytes = 1_024;
  for (const [entry, value] of data) bytes += entry.length + value.length;
  return bytes;
}

export function encodedEntries(
  entries: Readonly<Record<string, string | Uint8Array>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(entries).map(([entry, content]) => [entry, Buffer.from(content as string).toString("base64")]),
  );
}

export function dataOf(object: KubeObject): Readonly<Record<string, string>> {
  return (object["data"] as Readonly<Record<string, string>> | null | undefined) ?? {};
}
