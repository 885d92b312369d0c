// What `spec.dataSource` of a Project leaves out of copied objects, and why it can't: a misspelt
// field would be copied, and an object without a required one refused.

import type { OmittedField } from "../../core/config/copy-order.ts";
import type { JsonObject, ResourceConfig } from "../../core/config/types.ts";
import { type CheckedSchema, checkSchema, resolveField } from "../../core/schema/compile-schema.ts";
import type { Project } from "../model/objects.ts";
import type { Fault } from "../model/verdict.ts";
import { undeclared } from "./meant-field.ts";

/** The resources of both Projects as they are served, by name. */
export interface BothResources {
  readonly source: ReadonlyMap<string, ResourceConfig>;
  readonly target: ReadonlyMap<string, ResourceConfig>;
}

type DataSource = NonNullable<Project["spec"]["dataSource"]>;

/** Every resource that it names is in both. */
export function compileOmit(
  { omit = [] }: DataSource,
  both: BothResources,
): { readonly omit: readonly OmittedField[]; readonly faults: readonly Fault[] } {
  const fields: OmittedField[] = [];
  const faults: Fault[] = [];
  for (const [at, text] of omit.entries()) {
    const [resource, name] = parted(text);
    const sources = schemasOf(both.source.get(resource));
    const [target] = schemasOf(both.target.get(resource));
    const message = faultOf(name, sources, target);
    if (message === undefined) fields.push({ resource, path: resolveField(sources[0], name)?.path ?? [] });
    else faults.push({ message, pointer: `/spec/dataSource/omit/${at}` });
  }
  return { omit: fields, faults };
}

/** No name of a resource has a dot. */
function parted(text: string): readonly [resource: string, field: string] {
  const dot = text.indexOf(".");
  return [text.slice(0, dot), text.slice(dot + 1)];
}

function faultOf(name: string, sources: readonly CheckedSchema[], target: CheckedSchema): string | undefined {
  const lacking = sources.find((schema) => resolveField(schema, name) === undefined);
  if (lacking !== undefined) return undeclared(lacking, name);
  if (resolveField(target, name)?.isRequired !== true) return undefined;
  return `The schema of this Project requires "${name}", so no object would be copied: make it optional here`;
}

const noFields: CheckedSchema = { properties: new Map(), closed: false, warnings: [], contradictions: [] };

/**
 * What is served, and what its objects are migrated to: then the field may have another name there.
 */
function schemasOf(resource: ResourceConfig | undefined): readonly [CheckedSchema, ...CheckedSchema[]] {
  const next = resource?.nextSchemaBinds === true ? [checkedSchema(resource.nextSchema)] : [];
  return [checkedSchema(resource?.schema), ...next];
}

/** What is published has passed the check. */
function checkedSchema(schema: JsonObject | undefined): CheckedSchema {
  const checked = schema === undefined ? undefined : checkSchema(schema);
  return checked?.ok === true ? checked.schema : noFields;
}
