// What is kept in memory of a Secret. Whoever may create Secrets decides how large they are: up to
// a mebibyte of entries and a quarter of annotations each.

import type { KubeObject } from "../kube/api.ts";
import { secretAnnotations, secretEntries, secretLabels } from "../model/secret-names.ts";

/** Of an entry, in base64. Those that we write have a third of it. */
const maxEntryLength = 4 * 1024;
/** Those that we write have a few hundred. */
const maxAnnotationLength = 1_024;

/** Only what the operator writes itself, and no text longer than it writes. */
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
    ...(typeof data === "object" && { data: only(secretEntries, (data as Texts | null) ?? {}, maxEntryLength) ?? {} }),
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
