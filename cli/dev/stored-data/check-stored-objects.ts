// Reports, after a schema has changed, how many of the stored objects it would refuse. It checks a
// bounded number of them, a few at a time, and lets requests go first. A newer schema ends the
// check of the one before.

import { setImmediate as nextTurn } from "node:timers/promises";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import { describeError } from "../../../core/log/describe-error.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import type { Directory } from "../../../dataplane/config/directory.ts";
import { isValidStored } from "../../../dataplane/objects/validate-object.ts";
import type { ObjectLists, Position } from "../../../dataplane/store/ports/lists.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import type { Level } from "../../../pages/overview/state.ts";
import type { DevMessage } from "../report/messages.ts";

export interface StoredObjectsCheckOptions {
  readonly directory: Pick<Directory, "loaded">;
  readonly store: Pick<ObjectLists, "pageAfter">;
  readonly say: (message: DevMessage) => void;
  /** 10,000 by default. */
  readonly maxObjects?: number;
}

export interface StoredObjectsCheck {
  /**
   * Finds schemas that changed since the last call, and starts to check what they apply to. The
   * first call only remembers them.
   */
  afterPass(): void;
  /** Ends with the page that is being checked. */
  stop(): Promise<void>;
}

const maxCharacters = 64 * 1024 * 1024;
/** One turn of the event loop validates this much, unless a single object is larger. */
const page = { limit: 50, descending: false, maxBytes: 64 * 1024 };

interface LiveSchema {
  readonly collection: CollectionRef;
  readonly schema: CompiledSchema;
}

export function createStoredObjectsCheck(options: StoredObjectsCheckOptions): StoredObjectsCheck {
  const { maxObjects = 10_000 } = options;
  let known: ReadonlyMap<string, LiveSchema> | undefined;
  let stopped = false;
  /** One check at a time: many schemas of one file may change at once. */
  let checks = Promise.resolve();

  const isCurrent = (name: string, schema: CompiledSchema): boolean => !stopped && known?.get(name)?.schema === schema;

  async function check(name: string, { collection, schema }: LiveSchema): Promise<void> {
    const say = (level: Level, text: string): void => {
      options.say({ text: `${name}: ${text}`, shown: { level, about: name, isTrue: () => isCurrent(name, schema) } });
    };
    try {
      const found = await countInvalid(collection, schema, () => isCurrent(name, schema));
      if (found !== undefined && found.checked > 0) say(found.invalid > 0 ? "warning" : "note", sentence(found));
    } catch (error) {
      say("problem", `its stored objects can't be checked against the new schema: ${describeError(error)}`);
    }
  }

  /** Undefined when it isn't wanted any more. */
  async function countInvalid(
    collection: CollectionRef,
    schema: CompiledSchema,
    isWanted: () => boolean,
  ): Promise<Count | undefined> {
    let count: Count = { checked: 0, invalid: 0, characters: 0, isAll: false };
    let after: Position | undefined;
    while (!count.isAll && count.checked < maxObjects && count.characters < maxCharacters) {
      await nextTurn();
      if (!isWanted()) return undefined;
      const limit = Math.min(page.limit, maxObjects - count.checked);
      const range = { ...page, limit, counted: false, ...(after !== undefined && { after }) };
      const found = await options.store.pageAfter(collection, {}, undefined, range);
      if (found.outcome !== "page") throw new Error("A page in order of creation takes no index");
      after = found.next;
      count = {
        checked: count.checked + found.texts.length,
        invalid: count.invalid + found.texts.filter((text) => !isValidStored(schema, text)).length,
        characters: count.characters + found.texts.reduce((sum, { length }) => sum + length, 0),
        isAll: after === undefined,
      };
    }
    return count;
  }

  return {
    afterPass() {
      const before = known;
      known = liveSchemas(options.directory);
      for (const [name, live] of known) {
        const former = before?.get(name);
        if (former !== undefined && former.schema !== live.schema) checks = checks.then(() => check(name, live));
      }
    },
    async stop() {
      stopped = true;
      await checks;
    },
  };
}

/** An unchanged schema stays the same object (load-project.ts). */
function liveSchemas({ loaded }: Pick<Directory, "loaded">): ReadonlyMap<string, LiveSchema> {
  const schemas = new Map<string, LiveSchema>();
  for (const { config, resources } of loaded()) {
    const project = { namespace: config.namespace, name: config.name };
    for (const [resource, { schema }] of resources) {
      schemas.set(`${keyOfProject(project)}/api/${resource}`, { collection: { project, resource }, schema });
    }
  }
  return schemas;
}

interface Count {
  readonly checked: number;
  readonly invalid: number;
  readonly characters: number;
  /** False when the bound was reached: there are more. */
  readonly isAll: boolean;
}

function sentence({ checked, invalid, isAll }: Count): string {
  if (checked === 1) {
    if (invalid === 0) return "the 1 stored object fits the new schema";
    return "the 1 stored object doesn't fit the new schema: reads return it unchanged, a PUT has to make it fit";
  }
  if (invalid === 0) return `${isAll ? "all" : "the first"} ${checked} stored objects fit the new schema`;
  const count = isAll ? `${invalid} of ${checked}` : `at least ${invalid} of the first ${checked}`;
  const verb = invalid === 1 ? "doesn't" : "don't";
  return `${count} stored objects ${verb} fit the new schema: reads return them unchanged, a PUT has to make them fit`;
}
