// What the leader does about stored data that are retained and not served: takes up requests to
// delete them, and counts them for metrics.

import type { Clock } from "../../core/clock.ts";
import { projectOfKey } from "../../core/config/config-keys.ts";
import type { KubeApi, KubeObject } from "../kube/api.ts";
import { controllerIn, isOthers } from "../model/controller.ts";
import { nothingRetained, type RetainedFigures, retainedFigures } from "../observe/figures.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import { createDeletionInbox, type DeletionInbox } from "../stored-data/deletion-inbox.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface RetainedDataMaintenanceDeps {
  readonly context: Pick<OperatorContext, "caches" | "settings" | "logger"> & { readonly clock: Clock };
  /** Bound to leadership. */
  readonly api: KubeApi;
  /** Has the project looked at. */
  readonly enqueue: (key: string) => void;
  /** Undefined before Redis was reached. */
  readonly redis: () => OpenRedis | undefined;
}

export interface RetainedDataMaintenance {
  readonly deletions: DeletionInbox;
  figures(): RetainedFigures;
  /** `secret` = the key ring's, as it was just read. */
  takeRequests(secret: KubeObject | undefined): Promise<void>;
}

export function createRetainedDataMaintenance({
  context,
  api,
  enqueue,
  redis,
}: RetainedDataMaintenanceDeps): RetainedDataMaintenance {
  const { caches, settings, logger, clock } = context;
  const inventories = () => redis()?.publisher.dataInventories() ?? new Map();
  const hasProject = (key: string) => caches.index.projectOf(projectOfKey(key)) !== undefined;
  const looksAt = (key: string): boolean => {
    const ref = projectOfKey(key);
    const project = caches.index.projectOf(ref);
    return caches.isCurrent(ref.namespace) && !isOthers(project, controllerIn(settings.namespace));
  };
  const deletions = createDeletionInbox({
    api,
    now: () => clock.now(),
    inventories,
    looksAt,
    enqueue,
    warn: logger.warn,
  });
  return {
    deletions,
    figures: () => (redis() === undefined ? nothingRetained : retainedFigures(inventories(), hasProject)),
    async takeRequests(secret) {
      if (secret !== undefined) await deletions.sync(secret);
    },
  };
}
