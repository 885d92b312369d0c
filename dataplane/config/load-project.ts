// Turns the published fields of one project into a live one: opens what changed, keeps what did
// not, compiles schemas one at a time between other work. A field that can't be used leaves its
// last good version serving and is reported.

import { setImmediate as otherWork } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type ProjectField, readProjectField } from "../../core/config/fields.ts";
import { readMigration } from "../../core/config/migration.ts";
import { readPublished } from "../../core/config/published-value.ts";
import type {
  IssuerConfig,
  ProjectRef,
  ProjectSettings,
  ResourceConfig,
  RootKeyConfig,
  SigningRing,
} from "../../core/config/types.ts";
import { type CompiledSchema, compileSchema } from "../../core/schema/compile-schema.ts";
import { compileDefaults } from "../../core/schema/defaults/compile-defaults.ts";
import type { SchemaProblem } from "../../core/schema/read/report.ts";
import type { LiveProject, LiveResource } from "./directory.ts";
import { type FollowedKeyring, openWithNewest } from "./follow-keyring.ts";

/** A field that this replica can't use. */
export interface FieldRefusal {
  readonly project: string;
  readonly field: string;
  readonly reason: string;
}

/** A live project with its revisions, so that the next load can keep what is the same. */
export interface LoadedProject {
  /** Undefined when so much is refused that nothing of it can be served. */
  readonly live: LiveProject | undefined;
  readonly fields: ReadonlyMap<string, LoadedField>;
  readonly refusals: readonly FieldRefusal[];
}

interface LoadedField {
  readonly revision: number;
  readonly content: ProjectField;
}

/** `values` are the fields of projectConfigKey in Redis. Undefined when they contain no project. */
export async function loadProject(
  keyring: FollowedKeyring,
  ref: ProjectRef,
  values: ReadonlyMap<string, string>,
  before: LoadedProject | undefined,
): Promise<LoadedProject | undefined> {
  const refusals: FieldRefusal[] = [];
  const refuse = (field: string, reason: string) =>
    refusals.push({ project: `${ref.namespace}/${ref.name}`, field, reason });
  const fields = new Map<string, LoadedField>();
  for (const [field, text] of values) {
    const loaded = await loadField({ keyring, ref, field, text, before: before?.fields.get(field) });
    if (typeof loaded === "string") refuse(field, loaded);
    const usable = typeof loaded === "string" ? before?.fields.get(field) : loaded;
    if (usable !== undefined) fields.set(field, usable);
  }
  const project = contentOf(fields, "project");
  const signing = contentOf(fields, "signing");
  if (project === undefined || signing === undefined) return unusable(before, refusals);
  const resources = await liveResources(fields, before?.live, refuse);
  const live = { config: project, signing, resources, rootKeys: rootKeysOf(fields), issuers: issuersOf(fields) };
  return { live: Object.freeze(live), fields, refusals };
}

/** The last good version is served; where there is none, the reason is known. */
function unusable(before: LoadedProject | undefined, refusals: readonly FieldRefusal[]): LoadedProject | undefined {
  if (before === undefined && refusals.length === 0) return undefined;
  return { live: before?.live, fields: before?.fields ?? new Map(), refusals };
}

interface FieldLoad {
  readonly keyring: FollowedKeyring;
  readonly ref: ProjectRef;
  readonly field: string;
  readonly text: string;
  readonly before: LoadedField | undefined;
}

/** The field, undefined for a kind that this version does not know, or why it can't be used. */
async function loadField(load: FieldLoad): Promise<LoadedField | string | undefined> {
  const published = readPublished(load.text);
  if (!published) return "The published value is malformed";
  const { revision, sealed } = published;
  if (load.before?.revision === revision) return load.before;
  const binding = { namespace: load.ref.namespace, name: load.ref.name, field: load.field, revision };
  try {
    const { text } = await openWithNewest(load.keyring, binding, sealed);
    const content = readProjectField(load.field, text);
    return content && { revision, content };
  } catch (error) {
    return error instanceof Error ? error.message : "The published value can't be opened";
  }
}

function contentOf(fields: ReadonlyMap<string, LoadedField>, kind: "project"): ProjectSettings | undefined;
function contentOf(fields: ReadonlyMap<string, LoadedField>, kind: "signing"): SigningRing | undefined;
function contentOf(fields: ReadonlyMap<string, LoadedField>, kind: "project" | "signing") {
  const content = fields.get(kind)?.content;
  return content?.kind === kind ? content.value : undefined;
}

async function liveResources(
  fields: ReadonlyMap<string, LoadedField>,
  before: LiveProject | undefined,
  refuse: (field: string, reason: string) => void,
): Promise<ReadonlyMap<string, LiveResource>> {
  const resources = new Map<string, LiveResource>();
  for (const [field, { revision, content }] of fields) {
    if (content.kind !== "resource") continue;
    const kept = before?.resources.get(content.value.name);
    const made = makeLiveResource(content.value, kept, revision);
    if (!made.ok) refuse(field, reasonOf(made.problems));
    const resource = made.ok ? made.resource : kept;
    if (resource) resources.set(content.value.name, resource);
    // A schema takes milliseconds to compile; a project has up to hundreds.
    if (resource !== kept) await otherWork();
  }
  return resources;
}

function reasonOf([problem]: readonly SchemaProblem[]): string {
  return problem ? `${problem.pointer}: ${problem.message}` : "The schema can't be compiled";
}

function rootKeysOf(fields: ReadonlyMap<string, LoadedField>): ReadonlyMap<string, RootKeyConfig> {
  const rootKeys = new Map<string, RootKeyConfig>();
  for (const { content } of fields.values()) {
    if (content.kind === "rootkey") rootKeys.set(content.value.key, content.value);
  }
  return rootKeys;
}

function issuersOf(fields: ReadonlyMap<string, LoadedField>): ReadonlyMap<string, IssuerConfig> {
  const issuers = new Map<string, IssuerConfig>();
  for (const { content } of fields.values()) {
    if (content.kind === "issuer") issuers.set(content.value.url, content.value);
  }
  return issuers;
}

export type LiveResourceResult =
  | { readonly ok: true; readonly resource: LiveResource }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/**
 * The same resource as `before` when it has this configuration and revision. A configuration that
 * was changed and changed back is the same, and newer: other replicas declared the indexes in
 * between, and only the newer revision restores these.
 */
export function makeLiveResource(
  config: ResourceConfig,
  before: LiveResource | undefined,
  revision: number,
): LiveResourceResult {
  const isSame = before?.revision === revision && isDeepStrictEqual(before.config, config);
  if (isSame) return { ok: true, resource: before };
  const reusable = before !== undefined && isDeepStrictEqual(compiledOf(before.config), compiledOf(config));
  if (reusable) return { ok: true, resource: Object.freeze({ ...before, config, revision }) };
  const compiled = compileSchema(config.schema);
  if (!compiled.ok) return compiled;
  const filled = config.defaults === "Apply" ? compileDefaults(config.schema) : undefined;
  if (filled?.ok === false) return filled;
  const next = config.nextSchema && compileSchema(config.nextSchema);
  if (next?.ok === false) return next;
  const schemas = schemasOf(compiled.schema, next?.schema, config);
  const defaults = filled && { defaults: filled.defaults };
  return { ok: true, resource: Object.freeze({ config, ...schemas, ...migrationOf(config), ...defaults, revision }) };
}

function migrationOf({
  migration,
  nextSchema,
  defaults,
}: ResourceConfig): Pick<LiveResource, "migration" | "nextDefaults"> {
  if (migration === undefined) return {};
  const next = nextSchema && defaults === "Apply" ? compileDefaults(nextSchema) : undefined;
  return { migration: readMigration(migration), ...(next?.ok && { nextDefaults: next.defaults }) };
}

function schemasOf(
  schema: CompiledSchema,
  nextSchema: CompiledSchema | undefined,
  { nextSchemaBinds, migration }: ResourceConfig,
): Pick<LiveResource, "schema" | "nextSchema"> {
  if (nextSchema === undefined) return { schema };
  if (!nextSchemaBinds) return { schema, nextSchema };
  const { validate, validateFully } = migration === undefined ? both(schema, nextSchema) : nextSchema;
  // All but validation is as it was.
  return { schema: { ...schema, validate, validateFully }, nextSchema };
}

/** What is compiled of a configuration. */
function compiledOf({ schema, nextSchema, nextSchemaBinds, migration, defaults }: ResourceConfig): object {
  return { schema, nextSchema, nextSchemaBinds, migration, defaults };
}

/** What breaks both is told twice. */
function both(schema: CompiledSchema, next: CompiledSchema): Pick<CompiledSchema, "validate" | "validateFully"> {
  const validateFully: CompiledSchema["validateFully"] = (value, text) => {
    const [one, other] = [schema.validateFully(value, text), next.validateFully(value, text)];
    return { failures: [...one.failures, ...other.failures], areAll: one.areAll && other.areAll };
  };
  return { validateFully, validate: (value, text) => validateFully(value, text).failures };
}
