// With `storedObjects: Refuse`, a new schema is live only once all stored objects meet it. They are
// looked at first, which binds nobody: clients that write by the former schema go on. Where all
// meet it, writes have to as well, and a last check finds what was written in between.

import { isDeepStrictEqual } from "node:util";
import { type CheckResult, describeExample, describeInvalid } from "../../core/config/object-check.ts";
import type { JsonObject, ResourceConfig } from "../../core/config/types.ts";
import type { ApiResource } from "../model/objects.ts";
import { type Evaluation, refuse } from "../model/verdict.ts";

/** How far a schema has come that isn't live: what is being checked of it, or what was found. */
export type HeldSchema =
  /** `final`: writes have to meet it. */
  { readonly stage: "look" | "final" } | { readonly stage: "refused" | "live"; readonly found: CheckResult };

/** By UID of the ApiResource; a schema that is missing is to be looked at. */
export type HeldSchemas = ReadonlyMap<string, HeldSchema>;

/** What follows from what a check found. */
export function heldAfter(stage: "look" | "final", found: CheckResult): HeldSchema {
  if (found.invalid > 0) return { stage: "refused", found };
  return stage === "look" ? { stage: "final" } : { stage: "live", found };
}

/** Whether the schema of the spec is live only once no stored object breaks it. */
export function holdsSchema({ spec }: ApiResource, lastGood: ResourceConfig): boolean {
  return spec.schemaChange?.storedObjects === "Refuse" && !isDeepStrictEqual(lastGood.schema, spec.schema);
}

interface HoldContext {
  readonly held: HeldSchema | undefined;
  /** What stored objects go through first. */
  readonly migrate: readonly JsonObject[] | undefined;
}

/** All but the schema and what names its fields is live; undefined where these are, too. */
export function holdSchema(
  config: ResourceConfig,
  { schema, indexes, defaults, unique, expiry }: ResourceConfig,
  { held = { stage: "look" }, migrate }: HoldContext,
): Evaluation<readonly ResourceConfig[]> | undefined {
  if (held.stage === "live") return undefined;
  const { defaults: _defaults, unique: _unique, expiry: _expiry, ...others } = config;
  const former = {
    schema,
    indexes,
    ...(defaults && { defaults }),
    ...(unique && { unique }),
    ...(expiry && { expiry }),
  };
  const binds = held.stage === "final" && { nextSchemaBinds: true as const };
  const migration = migrate && { migration: migrate };
  const instead = [{ ...others, ...former, nextSchema: config.schema, ...binds, ...migration }];
  const pointer = "/spec/schema";
  if (held.stage === "refused") {
    return { ...refuse("StoredObjectsInvalid", invalidMessage(held.found, migrate !== undefined), pointer), instead };
  }
  const message = migrate !== undefined && held.stage === "final" ? migratingMessage : checkingMessages[held.stage];
  return { ...refuse("CheckingStoredObjects", message, pointer), instead };
}

/** The spec asks for another one by now. */
export function withoutNextSchema({
  nextSchema: _next,
  nextSchemaBinds: _binds,
  migration: _migration,
  ...config
}: ResourceConfig): ResourceConfig {
  return config;
}

const checkingMessages = {
  look: "The stored objects are being checked against this schema; until it is known that all meet it, the former one counts",
  final:
    "All stored objects met this schema; until those are checked that were written meanwhile, writes have to meet it and the former one",
};

const migratingMessage =
  "Stored objects are being migrated to this schema; until that has ended, writes that don't meet it are, too";

function invalidMessage(found: CheckResult, isMigrated: boolean): string {
  const advice = "correct them, or loosen the schema; it is tried again within ten minutes of that, and with each edit";
  const how = isMigrated ? " even when migrated" : "";
  return `${describeInvalid(found)} this schema${how}${describeExample(found)}: ${advice}`;
}
