// Writes the items of a backup into the Project that is served under its name now.

import type { ExportHead, StoredItem } from "../../core/transfer/lines.ts";
import { anonymous } from "../../dataplane/authenticate/caller.ts";
import type { LiveProject } from "../../dataplane/config/directory.ts";
import type { CollectionPreparer } from "../../dataplane/objects/prepare-collection.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { collectionOf } from "../../dataplane/store/ports/refs.ts";
import {
  type ObjectTarget,
  objectFor,
  objectTarget,
  tryObject,
  tryValue,
  type ValueTarget,
  valueTarget,
  type WriteMode,
  type Written,
  writeObject,
  writeValue,
} from "../../dataplane/transfer/write-object.ts";

export interface ItemWriter {
  /** Undefined for what is left out. Throws Problem for what is refused. */
  write(item: StoredItem): Promise<Written | undefined>;
  /** What the head names, was asked for, and the Project doesn't declare. */
  readonly leftOut: readonly string[];
}

export interface ItemWriterOptions {
  readonly store: Store;
  readonly preparer: Pick<CollectionPreparer, "prepare">;
  readonly project: LiveProject;
  readonly head: ExportHead;
  readonly mode: WriteMode;
  readonly dryRun: boolean;
  /** Resources and root keys; none = all. */
  readonly only: readonly string[];
}

/** Declares the indexes of what is to be written first. */
export async function createItemWriter(options: ItemWriterOptions): Promise<ItemWriter> {
  const { store, preparer, project, head, mode, dryRun, only } = options;
  const isAsked = (name: string): boolean => only.length === 0 || only.includes(name);
  const leftOut = [
    ...head.resources.filter((name) => isAsked(name) && !project.resources.has(name)),
    ...head.rootKeys.filter((name) => isAsked(name) && !project.rootKeys.has(name)),
  ];
  const objects = new Map<string, ObjectTarget>();
  const values = new Map<string, ValueTarget>();
  for (const [name, resource] of project.resources) {
    if (!isAsked(name) || !head.resources.includes(name)) continue;
    if (!dryRun) await preparer.prepare(resource, collectionOf(project.config, resource));
    objects.set(name, objectTarget(store, project, resource));
  }
  for (const [name, rootKey] of project.rootKeys)
    if (isAsked(name)) values.set(name, valueTarget({ store, project, rootKey, caller: anonymous }));
  const writeTo = dryRun ? { object: tryObject, value: tryValue } : { object: writeObject, value: writeValue };
  return {
    leftOut,
    async write(item) {
      if (item.kind === "object") {
        const target = objects.get(item.resource);
        return target && (await writeTo.object(target, objectFor(target, item.text), mode));
      }
      const target = item.kind === "value" ? values.get(item.rootKey) : undefined;
      return target && item.kind === "value" ? await writeTo.value(target, item.text, mode) : undefined;
    },
  };
}
