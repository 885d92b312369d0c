// With `storedObjects: Refuse` a new schema is live only once all stored objects meet it. Between
// two passes they are checked, all of them, as in a cluster: first while nobody has to meet it,
// then while writes have to, too. Requests go first.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { CheckFigures, CheckProgress } from "../../../core/config/object-check.ts";
import type { CompiledProject } from "../../../core/config/types.ts";
import type { Directory } from "../../../dataplane/config/directory.ts";
import { type CheckStep, checkStep, nothingChecked } from "../../../dataplane/objects/check/check-step.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import { collectionOf } from "../../../dataplane/store/ports/refs.ts";
import { type HeldSchema, type HeldSchemas, heldAfter } from "../../../operator/compile/held-schema.ts";

/** Whether a schema waits for what is found of it. */
export function holdsSchemas(published: ReadonlyMap<string, CompiledProject>, held: HeldSchemas): boolean {
  return [...published.values()].some(({ resources }) =>
    [...resources.values()].some(
      ({ uid, nextSchema }) => nextSchema !== undefined && held.get(uid)?.stage !== "refused",
    ),
  );
}

/** How far schemas have come by what is found of them now; `before` = how far before that. */
export async function checkHeldSchemas(
  before: HeldSchemas,
  directory: Pick<Directory, "loaded">,
  store: Pick<ObjectLists, "pageAfter">,
): Promise<HeldSchemas> {
  const held = new Map<string, HeldSchema>([...before].filter(([, { stage }]) => stage === "refused"));
  for (const { config: project, resources } of directory.loaded()) {
    for (const resource of resources.values()) {
      const { config, nextSchema } = resource;
      if (nextSchema === undefined || held.has(config.uid)) continue;
      const figures = await checkAll({ store, collection: collectionOf(project, resource), schema: nextSchema });
      const stage = config.nextSchemaBinds === true ? "final" : "look";
      held.set(config.uid, heldAfter(stage, { ...figures, endedAt: Date.now() }));
    }
  }
  return held;
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
