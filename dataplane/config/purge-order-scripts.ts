// Typed wrappers of the scripts by which a replica takes up orders about stored data and notes which are done. They run while Redis' memory is used
// up: what is to be removed may be what fills it.

import { randomUUID } from "node:crypto";
import { configKeys } from "../../core/config/config-keys.ts";
import type { Gateway } from "../../core/redis/gateway.ts";
import { listOf, numberOf } from "../../core/redis/reply.ts";
import { loadScript, runsWithoutMemory } from "../../core/redis/script.ts";

export interface PurgeOrderScripts {
  /** False when another replica holds it. Two that purge the same would be wasteful, not wrong; so the lock needs no owner. */
  takeLock(milliseconds: number): Promise<boolean>;
  /** `found` = what the order asked for; default: when. */
  noteDone(id: string, found?: string): Promise<void>;
}

export function createPurgeOrderScripts(gateway: Gateway): PurgeOrderScripts {
  const folder = new URL("./scripts/", import.meta.url);
  const load = (name: string) => runsWithoutMemory(loadScript(folder, name, "write"));
  const takeLock = load("take-purge-lock-1");
  const notePurged = load("note-purged-1");
  return {
    async takeLock(milliseconds) {
      const [code] = listOf(await gateway.run(takeLock, [configKeys.purgeLock], [randomUUID(), milliseconds]));
      return numberOf(code) === 0;
    },
    async noteDone(id, found = String(Date.now())) {
      await gateway.run(notePurged, [configKeys.purged], [id, found]);
    },
  };
}
