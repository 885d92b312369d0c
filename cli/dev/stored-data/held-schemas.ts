// With `storedObjects: Refuse` a new schema is live only once all stored objects meet it. Between
// two passes they are checked, all of them, while writes have to meet both schemas and requests go
// first.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { CheckFigures, CheckProgress, CheckResult } from "../../../core/config/object-check.ts";
import type { CompiledProject } from "../../../core/config/types.ts";
import type { Directory } from "../../../dataplane/config/directory.ts";
import { type CheckStep, checkStep, nothingChecked } from "../../../dataplane/objects/check/check-step.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import { collectionOf } from "../../../dataplane/store/ports/refs.ts";
import type { HeldSchemas } from "../../../operator/stored-data/held-schemas.ts";

/** Whether a schema waits for what is found of it. */
export function holdsSchemas(published: ReadonlyMap<string, CompiledProject>): boolean {
  return [...published.values()].some(({ resources }) =>
    [...resources.values()].some(({ nextSchemaBinds }) => nextSchemaBinds),
  );
}

/** What is found of all schemas that wait for it. */
export async function checkHeldSchemas(
  directory: Pick<Directory, "loaded">,
  store: Pick<ObjectLists, "pageAfter">,
): Promise<HeldSchemas> {
  const found = new Map<string, CheckResult>();
  for (const { config: project, resources } of directory.loaded()) {
    for (const { config, nextSchema } of resources.values()) {
      if (nextSchema === undefined || config.nextSchemaBinds !== true) continue;
      const figures = await checkAll({ store, collection: collectionOf(project, config), schema: nextSchema });
      found.set(config.uid, { ...figures, endedAt: Date.now() });
    }
  }
  return found;
}

async function checkAll(step: CheckStep): Promise<CheckFigures> {
  let figures: CheckFigures | CheckProgress = nothingChecked;
  for (;;) {
    await nextTurn();
    const next = await checkStep(step, figures);
    figures = next.figures;
    if (next.isDone) return figures;
  }
}
