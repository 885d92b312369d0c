// Turns spec.unique of an ApiResource into the rules that are served. Refuses with `InvalidSpec`,
// and says what to write, fields that the schema doesn't bound, and conditions that never hold.

import type { UniqueRule } from "../../core/config/types.ts";
import { maxUniqueLength } from "../../core/config/unique-rules.ts";
import { type CheckedSchema, resolveField } from "../../core/schema/compile-schema.ts";
import type { DeclaredProperty, JsonType } from "../../core/schema/declared-properties.ts";
import type { ApiResource } from "../model/objects.ts";
import { type Fault, type Result, refuseAll } from "../model/verdict.ts";
import { undeclared } from "./meant-field.ts";

type Rule = NonNullable<ApiResource["spec"]["unique"]>[number];

export function checkUnique(schema: CheckedSchema, rules: readonly Rule[]): Result<readonly UniqueRule[]> {
  const faults = rules.flatMap((rule, at) => {
    const pointer = `/spec/unique/${at}`;
    const earlier = rules.slice(0, at).findIndex((other) => hasSameFields(other, rule));
    if (earlier >= 0) {
      const message = `Has the same fields as rule ${earlier}, by which a PUT could mean either: leave one of them out`;
      return [{ pointer: `${pointer}/fields`, message }];
    }
    return [...fieldFaults(schema, rule, pointer), ...whereFaults(schema, rule, pointer)];
  });
  if (faults.length > 0) return refuseAll("InvalidSpec", faults);
  return { ok: true, value: rules.map((rule) => ruleOf(schema, rule)) };
}

function hasSameFields({ fields: ones }: Rule, { fields: others }: Rule): boolean {
  return ones.length === others.length && ones.every((name) => others.includes(name));
}

function fieldFaults(schema: CheckedSchema, { fields }: Rule, pointer: string): readonly Fault[] {
  return fields.flatMap((name, at) => {
    const property = resolveField(schema, name);
    const message = property === undefined ? undeclared(schema, name) : unboundedFault(property);
    return message === undefined ? [] : [{ pointer: `${pointer}/fields/${at}`, message }];
  });
}

const scalars: ReadonlySet<JsonType> = new Set(["string", "number", "integer", "boolean"]);

function unboundedFault({
  name,
  types,
  maxLength: length = Number.POSITIVE_INFINITY,
}: DeclaredProperty): string | undefined {
  const [type, ...others] = types.filter((each) => each !== "null");
  if (type === undefined || others.length > 0 || !scalars.has(type)) {
    return `The schema must give "${name}" one type: string, number, integer or boolean, and perhaps null`;
  }
  if (type !== "string" || length <= maxUniqueLength) return undefined;
  return `The schema must bound "${name}": give it a maxLength of at most ${maxUniqueLength}, or an enum`;
}

function whereFaults(schema: CheckedSchema, { where = {} }: Rule, pointer: string): readonly Fault[] {
  return Object.entries(where).flatMap(([name, value]) => {
    const property = resolveField(schema, name);
    const message = property === undefined ? undeclared(schema, name) : valueFault(property, value);
    return message === undefined ? [] : [{ pointer: `${pointer}/where`, message }];
  });
}

function valueFault({ name, types }: DeclaredProperty, value: unknown): string | undefined {
  if (value !== null && typeof value === "object")
    return `"${name}" is compared with a string, a number, a boolean or null`;
  // Missing fields count as null.
  if (value === null || types.length === 0) return undefined;
  const fits = types.some((type) => (type === "integer" ? Number.isInteger(value) : type === typeof value));
  return fits
    ? undefined
    : `The schema gives "${name}" the type ${types.join(" or ")}, so that it is never ${JSON.stringify(value)}`;
}

function ruleOf(schema: CheckedSchema, { fields, ignoreCase, per, where }: Rule): UniqueRule {
  const placeOf = (name: string) => ({ name, path: resolveField(schema, name)?.path ?? [name] });
  const conditions = Object.entries(where ?? {}).map(([name, value]) => ({
    field: placeOf(name),
    value: value as NonNullable<UniqueRule["where"]>[number]["value"],
  }));
  return {
    fields: fields.map(placeOf),
    ...(ignoreCase && { ignoreCase }),
    ...(per !== undefined && { per }),
    ...(conditions.length > 0 && { where: conditions }),
  };
}
