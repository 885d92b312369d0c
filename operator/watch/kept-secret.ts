// What is kept in memory of a Secret. Whoever may create Secrets decides how large they are: up to a
// mebibyte of entries and a quarter of annotations each.

import type { KubeObject } from "../kube/api.ts";
import { secretAnnotations, secretEntries, secretLabels } from "../model/secret-names.ts";

/** Of the entries together, in base64. Those of our own Secrets have a quarter of it. */
const maxDataLength = 16 * 1024;
/** Those that we write have a few hundred. */
const maxAnnotationLength = 1_024;

/** Without what we don't write ourselves, and without what is larger than anything that we write. */
export function keptSecret({ metadata, type, immutable, data }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp } = metadata;
  const labels = only(secretLabels, metadata.labels);
  const annotations = only(secretAnnotations, metadata.annotations, maxAnnotationLength);
  return {
    metadata: {
      ...{ name, namespace, uid, resourceVersion },
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    ...(typeof type === "string" && { type }),
    ...(immutable === true && { immutable }),
    ...(typeof data === "object" && { data: keptEntries(data as Texts | null) }),
  };
}

type Texts = Readonly<Record<string, string>>;

function only(names: readonly string[], texts: Texts | undefined, maxLength?: number): Texts | undefined {
  if (texts === undefined) return undefined;
  const kept = names.flatMap((name): readonly [string, string][] => {
    const text = texts[name];
    return text === undefined || text.length > (maxLength ?? text.length) ? [] : [[name, text]];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function keptEntries(data: Texts | null): Texts {
  let left = maxDataLength;
  const kept = Object.entries(only(secretEntries, data ?? {}) ?? {}).filter(([, text]) => {
    left -= text.length;
    return left >= 0;
  });
  return Object.fromEntries(kept);
}
