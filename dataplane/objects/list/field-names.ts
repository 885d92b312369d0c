// Says in refusals which fields a schema has, and whether a path could lead anywhere in its objects.

import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";

export function fieldNames(schema: CompiledSchema): string {
  const names = [...schema.properties.keys()];
  if (names.length === 0) return "no fields";
  return names.length > 40 ? `${names.slice(0, 40).join(", ")} and more` : names.join(", ");
}

/** Where the field stands; undefined when no object of the schema can have it. A property literally named `a.b` wins. */
export function pathOf(name: string, schema: CompiledSchema): readonly string[] | undefined {
  const declared = resolveField(schema, name);
  if (declared !== undefined) return declared.path;
  return schema.closed && !reachesOpenMember(name, schema) ? undefined : name.split(".");
}

/** `meta.colour` of a closed schema whose `meta` is declared, but whose members are not. */
function reachesOpenMember(name: string, schema: CompiledSchema): boolean {
  const dot = name.indexOf(".");
  return dot > 0 && resolveField(schema, name.slice(0, dot)) !== undefined;
}
