// Reads the texts of a page's objects: small ones together with the other reads of the same turn, larger ones by a script that stops at a
// byte limit.

import type { ReadTexts } from "../read-page.ts";
import type { JoinedReads } from "./joined-reads.ts";
import type { CollectionKeys } from "./keys.ts";
import type { ObjectScripts } from "./object-scripts.ts";

/** Small objects that one step reads: half a mebibyte, or more if some grew since this replica saw them last. */
const maxTogether = 32;

export interface TextDeps {
  readonly scripts: ObjectScripts;
  readonly joinedReads: JoinedReads;
}

export function pageTexts({ scripts, joinedReads }: TextDeps, keys: CollectionKeys): ReadTexts {
  return async (ids) => {
    const together = ids.slice(0, maxTogether).map(keys.objectKey);
    if (together.every(joinedReads.isSmall)) return await Promise.all(together.map((key) => joinedReads.read(key)));
    const texts = await scripts.readMany(keys, ids);
    for (const [at, text] of texts.entries()) joinedReads.note(keys.objectKey(ids[at] as string), text);
    return texts;
  };
}
