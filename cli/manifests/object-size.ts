// Compares an object with what a cluster can take: etcd's limit, which refuses it, and the one of `kubectl apply` without `--server-side`.

import { annotationBytes, maxAnnotationBytes } from "../../core/manifests/metadata.ts";
import type { UncheckedObject } from "../../core/manifests/object.ts";

/** etcd takes 1.5 MiB; the API server adds its own fields and, for each field of a spec, who wrote it. */
const maxStoredBytes = 1_500_000;
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Why no cluster can store it; undefined where one can. */
export function sizeFault(object: UncheckedObject): string | undefined {
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
