// With `storedObjects: Refuse` a new schema is live only once all stored objects meet it. Between
// two passes they are checked, all of them, as in a cluster: first while nobody has to meet it,
// then while writes have to, too; then they are migrated. Requests go first.

import { setImmediate as nextTurn } from "node:timers/promises";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { CheckFigures, CheckProgress } from "../../../core/config/object-check.ts";
import type { CompiledProject } from "../../../core/config/types.ts";
import type { Directory } from "../../../dataplane/config/directory.ts";
import { stepsOf } from "../../../dataplane/objects/check/migrate-step.ts";
import { storedRules } from "../../../dataplane/objects/validate-object.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import type { ObjectReads, ObjectWrites } from "../../../dataplane/store/ports/objects.ts";
import { collectionOf } from "../../../dataplane/store/ports/refs.ts";
import { type HeldSchema, type HeldSchemas, heldAfter } from "../../../operator/compile/held-schema.ts";
import type { DevMessage } from "../report/messages.ts";

/** Whether a schema waits for what is found of it. */
export function holdsSchemas(published: ReadonlyMap<string, CompiledProject>, held: HeldSchemas): boolean {
  return [...published.values()].some(({ resources }) =>
    [...resources.values()].some(
      ({ uid, nextSchema }) => nextSchema !== undefined && held.get(uid)?.stage !== "refused",
    ),
  );
}

export type CheckedStore = Pick<ObjectLists & ObjectReads & ObjectWrites, "pageAfter" | "read" | "replace">;

/** How far schemas have come by what is found of them now; `before` = how far before that. */
export async function checkHeldSchemas(
  before: HeldSchemas,
  directory: Pick<Directory, "loaded">,
  store: CheckedStore,
): Promise<HeldSchemas> {
  const held = new Map<string, HeldSchema>([...before].filter(([, { stage }]) => stage === "refused"));
  for (const { config: project, resources } of directory.loaded()) {
    for (const resource of resources.values()) {
      const { config, nextSchema } = resource;
      if (nextSchema === undefined || held.has(config.uid)) continue;
      const stage = config.nextSchemaBinds === true ? "final" : "look";
      const collection = collectionOf(project, resource);
      const rules = storedRules(resource, project);
      const figures = await checkAll(stepsOf({ store, writes: store, collection, rules }, stage));
      held.set(config.uid, heldAfter(stage, { ...figures, endedAt: Date.now() }));
    }
  }
  return held;
}

/** What was replaced, of schemas that are live by now. */
export function migrationNews(
  held: HeldSchemas,
  published: ReadonlyMap<string, CompiledProject>,
): readonly DevMessage[] {
  return [...published.values()].flatMap(({ project, resources }) =>
    [...resources.values()].flatMap(({ uid, name }) => {
      const known = held.get(uid);
      const migrated = known?.stage === "live" ? known.found.migrated : undefined;
      if (migrated === undefined) return [];
      const objects = migrated === 1 ? "1 stored object was" : `${migrated} stored objects were`;
      return [{ text: `${keyOfProject(project)}/api/${name}: ${objects} migrated to the new schema` }];
    }),
  );
}

async function checkAll(step: ReturnType<typeof stepsOf>): Promise<CheckFigures> {
  let progress: CheckProgress | undefined;
  for (;;) {
    await nextTurn();
    const next = await step(progress);
    if (next.isDone) return next.figures;
    progress = next.figures;
  }
}
