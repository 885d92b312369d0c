// Reports to the operator how much of their quotas projects use: in a hash of this replica, only
// what changed, and nothing where no project has a quota. It expires when the replica dies.

import { keyOfProject, usageKey } from "../../core/config/config-keys.ts";
import type { QuotaUses } from "../../core/config/quota-uses.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { listOf, numberOf } from "../../core/redis/reply.ts";
import { loadScript } from "../../core/redis/script.ts";

export interface ReportUsageDeps {
  readonly redisClient: RedisClient;
  readonly replica: string;
  readonly reports: () => readonly { readonly project: ProjectRef; readonly quotas: QuotaUses }[];
  /** Between two rounds, 10,000 by default. */
  readonly everyMs?: number;
}

const usualEveryMs = 10_000;
const expirySeconds = 60;

export function reportUsage({ redisClient, replica, reports, everyMs = usualEveryMs }: ReportUsageDeps): {
  stop(): Promise<void>;
} {
  const figures = createFiguresWriter(redisClient);
  const key = usageKey(replica);
  const reported = new Map<string, string>();

  const round = async (): Promise<void> => {
    const now = new Map(reports().map(({ project, quotas }) => [keyOfProject(project), JSON.stringify(quotas)]));
    const changed = [...now].filter(([name, text]) => reported.get(name) !== text);
    const gone = [...reported.keys()].filter((name) => !now.has(name));
    if (now.size === 0 && gone.length === 0) return;
    const wasThere = await figures.write(key, { gone, changed, expirySeconds });
    for (const name of gone) reported.delete(name);
    // Without the key, Redis was emptied, or away for longer than its expiry: everything is
    // reported again.
    if (!wasThere) reported.clear();
    for (const [name, text] of changed) reported.set(name, text);
  };

  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // The next round repeats what is lost now: nothing counts as reported before Redis has
    // confirmed it.
    running = running.then(round).catch(() => undefined);
  }, everyMs).unref();

  return {
    async stop() {
      clearInterval(timer);
      await running;
      // Should Redis be away, it ends by itself.
      await redisClient.write(key, "DEL", key).catch(() => undefined);
    },
  };
}

export interface Figures {
  /** Projects that no longer have any. */
  readonly gone: readonly string[];
  /** Names of projects with the texts that they have now. */
  readonly changed: readonly (readonly [name: string, text: string])[];
  readonly expirySeconds: number;
}

export interface FiguresWriter {
  /** False where nothing was there: Redis was emptied, or it expired. Renews the expiry. */
  write(key: string, figures: Figures): Promise<boolean>;
}

export function createFiguresWriter(redisClient: RedisClient): FiguresWriter {
  const script = loadScript(new URL("./scripts/", import.meta.url), "write-figures-1", "write");
  return {
    async write(key, { gone, changed, expirySeconds }) {
      const args = [expirySeconds, gone.length, ...gone, ...changed.flat()];
      const [, wasThere] = listOf(await redisClient.run(script, [key], args));
      return numberOf(wasThere) === 1;
    },
  };
}
