// Reports, after a schema has changed, how many of the stored objects it would refuse. It checks a
// bounded number of them, a few at a time, and lets requests go first. A newer schema ends the
// check of the one before.

import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { CheckFigures, CheckProgress } from "../../../core/config/object-check.ts";
import type { JsonObject } from "../../../core/config/types.ts";
import { describeError } from "../../../core/log/describe-error.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import type { Directory } from "../../../dataplane/config/directory.ts";
import { checkStep, nothingChecked } from "../../../dataplane/objects/check/check-step.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import { type CollectionRef, collectionOf } from "../../../dataplane/store/ports/refs.ts";
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

interface LiveSchema {
  readonly collection: CollectionRef;
  readonly schema: CompiledSchema;
  readonly source: JsonObject;
  /** Updates may keep what is invalid already. */
  readonly ratchets: boolean;
}

export function createStoredObjectsCheck(options: StoredObjectsCheckOptions): StoredObjectsCheck {
  const { maxObjects = 10_000 } = options;
  let known: ReadonlyMap<string, LiveSchema> | undefined;
  let stopped = false;
  /** One check at a time: many schemas of one file may change at once. */
  let checks = Promise.resolve();

  const isCurrent = (name: string, schema: CompiledSchema): boolean => !stopped && known?.get(name)?.schema === schema;

  async function check(name: string, { collection, schema, ratchets }: LiveSchema): Promise<void> {
    const say = (level: Level, text: string): void => {
      options.say({ text: `${name}: ${text}`, shown: { level, about: name, isTrue: () => isCurrent(name, schema) } });
    };
    try {
      const found = await countInvalid(collection, schema, () => isCurrent(name, schema));
      if (found !== undefined && found.checked > 0)
        say(found.invalid > 0 ? "warning" : "note", sentence(found, ratchets));
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
    const step = { store: options.store, collection, rules: { schema, maxBytes: Number.POSITIVE_INFINITY } };
    let figures: CheckFigures | CheckProgress = nothingChecked;
    let characters = 0;
    while (figures.checked < maxObjects && characters < maxCharacters) {
      await nextTurn();
      if (!isWanted()) return undefined;
      const next = await checkStep(step, figures, maxObjects - figures.checked);
      if (next.isDone) return { ...next.figures, isAll: true };
      figures = next.figures;
      characters += next.characters;
    }
    return { ...figures, isAll: false };
  }

  return {
    afterPass() {
      const before = known;
      known = liveSchemas(options.directory);
      for (const [name, live] of known) {
        const former = before?.get(name);
        if (former !== undefined && isAnother(former, live)) checks = checks.then(() => check(name, live));
      }
    },
    async stop() {
      stopped = true;
      await checks;
    },
  };
}

/** One that was held back and refused is compiled anew, and as it was. */
function isAnother(former: LiveSchema, live: LiveSchema): boolean {
  return former.schema !== live.schema && !isDeepStrictEqual(former.source, live.source);
}

/** An unchanged schema stays the same object (load-project.ts). */
function liveSchemas({ loaded }: Pick<Directory, "loaded">): ReadonlyMap<string, LiveSchema> {
  const schemas = new Map<string, LiveSchema>();
  for (const { config, resources } of loaded()) {
    for (const resource of resources.values()) {
      const { name: of, updates, schema: source } = resource.config;
      const collection = collectionOf({ namespace: config.namespace, name: config.name }, resource);
      const name = `${keyOfProject(collection.project)}/api/${of}`;
      schemas.set(name, { collection, schema: resource.schema, source, ratchets: updates === "Ratchet" });
    }
  }
  return schemas;
}

interface Count extends CheckFigures {
  /** False when the bound was reached: there are more. */
  readonly isAll: boolean;
}

function sentence({ checked, invalid, examples, isAll }: Count, ratchets: boolean): string {
  const example = examples.map(
    ({ id, pointer, keyword }) => `; for example ${id} at ${pointer || "/"} (${keyword})`,
  )[0];
  const consequence = (them: string): string => {
    const update = ratchets ? "may keep what doesn't fit" : `has to make ${them} fit`;
    return `reads return ${them} unchanged, a PUT ${update}${example}`;
  };
  if (checked === 1) {
    if (invalid === 0) return "the 1 stored object fits the new schema";
    return `the 1 stored object doesn't fit the new schema: ${consequence("it")}`;
  }
  if (invalid === 0) return `${isAll ? "all" : "the first"} ${checked} stored objects fit the new schema`;
  const count = isAll ? `${invalid} of ${checked}` : `at least ${invalid} of the first ${checked}`;
  const verb = invalid === 1 ? "doesn't" : "don't";
  return `${count} stored objects ${verb} fit the new schema: ${consequence("them")}`;
}
