// Unique rules in requests: the refusal of values that another object has, and which object a PUT
// of the collection names by the values of one rule. Refuses with `invalid_parameter` a query that
// names no rule, and with `validation_failed` a body with other values than the query.

import type { FieldPath, UniqueRule } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { pointerOf } from "../../core/json/json-pointer.ts";
import { kindOf, valueAt } from "../../core/json/members.ts";
import { mergePatch } from "../../core/json/merge-patch.ts";
import type { CompiledSchema } from "../../core/schema/compile-schema.ts";
import { isWithin, type TextAt, uniqueValue } from "../store/entry-values.ts";
import { fieldValueOf } from "./list/filters.ts";
import { queryParameters } from "./list/query-parameters.ts";

export function notUnique({ fields, per }: UniqueRule): Problem {
  const whose = per === "Owner" ? "Another object of the same owner" : "Another object";
  const errors = fields.map(({ path }) => ({
    pointer: pointerOf(path),
    keyword: "unique",
    message: `Another object has this value${fields.length === 1 ? "" : ` and the same ${otherThan(path, fields)}`}`,
  }));
  return new Problem("not_unique", `${whose} has the same ${namesOf(fields)}`, { errors });
}

function otherThan(path: FieldPath["path"], fields: readonly FieldPath[]): string {
  return namesOf(fields.filter((field) => field.path !== path));
}

function namesOf(fields: readonly FieldPath[]): string {
  return fields.map(({ name }) => `\`${name}\``).join(" and ");
}

/** What a PUT of a collection names: values of all fields of one rule. */
export interface UpsertPlan {
  readonly rule: UniqueRule;
  /** What the rule has of such an object of this owner; undefined = no object can have these. */
  encodedFor(metadata: { readonly creator: string; readonly creator_type: string }): string | undefined;
  /** The body of a new object, with those values that it leaves out. */
  filledIn(body: CanonicalJson): CanonicalJson;
  /**
   * That of an update: inside of objects that it sends, which replace the stored ones. So a request
   * means the same when it is repeated.
   */
  filledInside(body: CanonicalJson): CanonicalJson;
  /** Throws `validation_failed` where the object that would be stored has other values. */
  requireValues(text: string): void;
}

interface NamedValue {
  readonly field: FieldPath;
  /** JSON text of a scalar. */
  readonly text: string;
}

export function planUpsert(
  query: string,
  { schema, config }: { readonly schema: CompiledSchema; readonly config: { readonly unique?: readonly UniqueRule[] } },
): UpsertPlan {
  const parameters = queryParameters(query);
  const { unique = [] } = config;
  const rule = unique.find(
    ({ fields }) => fields.length === parameters.size && fields.every(({ name }) => parameters.has(name)),
  );
  if (rule === undefined) {
    const forms = unique.map(({ fields }) => `\`?${fields.map(({ name }) => `${name}=…`).join("&")}\``);
    throw new Problem("invalid_parameter", `Name the object by the fields of one unique rule: ${forms.join(" or ")}`);
  }
  const values = rule.fields.map((field) => ({
    field,
    text: fieldValueOf(schema, field.name, parameters.get(field.name) ?? ""),
  }));
  return upsertOf(rule, values);
}

function upsertOf(rule: UniqueRule, values: readonly NamedValue[]): UpsertPlan {
  /** Of the rule's fields alone: no object is outside of `where` then. */
  const { where: _, ...everywhere } = rule;
  const isSame = (text: string, { field, text: named }: NamedValue): boolean => {
    const one = { fields: [field], ...(rule.ignoreCase && { ignoreCase: rule.ignoreCase }) };
    const found = uniqueValue(one, () => valueAt(text, field.path));
    return found !== undefined && found === uniqueValue(one, () => named);
  };
  return {
    rule,
    encodedFor(metadata) {
      const textAt: TextAt = (path) =>
        values.find(({ field }) => field.path === path)?.text ?? valueAt(JSON.stringify({ _metadata: metadata }), path);
      return uniqueValue(everywhere, textAt);
    },
    filledIn: (body) => filled(body, values),
    filledInside(body) {
      const isSent = ({ field: { path } }: NamedValue): boolean => valueAt(body.text, path.slice(0, 1)) !== undefined;
      return filled(body, values.filter(isSent));
    },
    requireValues(text) {
      const wrong = values.filter((value) => !isSame(text, value)).map(({ field }) => field);
      if (wrong.length > 0) throw otherValues(wrong, "Is not the value that the query names");
      const outside = (rule.where ?? []).filter(
        (each) => !isWithin({ ...rule, where: [each] }, (path) => valueAt(text, path)),
      );
      if (outside.length > 0)
        throw otherValues(
          outside.map(({ field }) => field),
          "Must have the value that the unique rule names",
        );
    },
  };
}

function filled(body: CanonicalJson, values: readonly NamedValue[]): CanonicalJson {
  if (body.kind !== "object") return body;
  return { ...body, text: values.reduce((text, value) => withMissing(text, value.field.path, value.text), body.text) };
}

/** With a value at the path, unless there is one or no object that could have it. */
function withMissing(text: string, path: FieldPath["path"], value: string): string {
  const above = path.slice(0, -1).map((_, at) => valueAt(text, path.slice(0, at + 1)));
  const isBlocked = above.some((each) => each !== undefined && kindOf(each) !== "object");
  if (isBlocked || valueAt(text, path) !== undefined) return text;
  return mergePatch(
    text,
    path.reduceRight((below, name) => `{${JSON.stringify(name)}:${below}}`, value),
  );
}

function otherValues(fields: readonly FieldPath[], message: string): Problem {
  const errors = fields.map(({ path }) => ({ pointer: pointerOf(path), keyword: "unique", message }));
  return new Problem("validation_failed", `${namesOf(fields)}: ${message}`, { errors });
}
