// Writes of Secrets that the API server has not answered yet. The watch often tells of such a write
// before its answer comes: then it is nothing new. What the watch held meanwhile is kept until the
// answer shows which version was written.

import type { KubeObject, ObjectName } from "../kube/api.ts";
import { isSameVersion } from "../watch/object-cache.ts";

export interface WritesUnderWay {
  /**
   * Runs a write of a Secret, and hands on what else the watch held of it meanwhile. Answers and
   * rejects as `write` does.
   */
  run(secret: ObjectName, write: () => Promise<KubeObject>): Promise<KubeObject>;
  /**
   * Keeps what the watch tells of a Secret while a write of it is under way; false when none is.
   */
  keep(secret: KubeObject): boolean;
}

/** `handOn` is called with the versions of a Secret that were not the operator's own. */
export function createWritesUnderWay(handOn: (secret: KubeObject) => void): WritesUnderWay {
  const kept = new Map<string, KubeObject[]>();
  const keyOf = ({ namespace = "", name }: KubeObject["metadata"] | ObjectName): string => `${namespace}/${name}`;
  return {
    async run(secret, write) {
      const key = keyOf(secret);
      // Two Projects may want the same Secret: what the second one writes is news for the first.
      if (kept.has(key)) return await write();
      const held: KubeObject[] = [];
      kept.set(key, held);
      let written: KubeObject | undefined;
      try {
        written = await write();
        return written;
      } finally {
        kept.delete(key);
        for (const each of held) if (!isSameVersion(written, each)) handOn(each);
      }
    },
    keep(secret) {
      const held = kept.get(keyOf(secret.metadata));
      held?.push(secret);
      return held !== undefined;
    },
  };
}
