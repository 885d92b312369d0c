// Reads the texts of a page's objects: small ones together with the other reads of the same turn, larger ones by a script that stops at a
// byte limit.

import type { ReadTexts } from "../read-page.ts";
import type { BatchedReads } from "./batched-reads.ts";
import type { CollectionKeys } from "./keys.ts";
import type { ObjectScripts } from "./object-scripts.ts";

/** Small objects that one step reads: half a mebibyte, or more if some grew since this replica saw them last. */
const maxTogether = 32;

export interface TextDeps {
  readonly scripts: ObjectScripts;
  readonly batchedReads: BatchedReads;
}

export function pageTexts({ scripts, batchedReads }: TextDeps, keys: CollectionKeys): ReadTexts {
  return async (ids) => {
    const together = batchedReads.readSmall(ids.slice(0, maxTogether).map(keys.objectKey));
    if (together !== undefined) return await together;
    const texts = await scripts.readMany(keys, ids);
    for (const [at, text] of texts.entries()) batchedReads.note(keys.objectKey(ids[at] as string), text);
    return texts;
  };
}
