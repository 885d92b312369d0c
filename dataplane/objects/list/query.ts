// Turns the query of a list into paging, order, filters and what is shown. Refuses unknown,
// repeated and malformed parameters with `invalid_parameter`, and says what is allowed.

import type { ProjectSettings } from "../../../core/config/types.ts";
import { Problem } from "../../../core/errors/problem.ts";
import type { Selection } from "../../../core/json/selection.ts";
import { type CompiledSchema, resolveField } from "../../../core/schema/compile-schema.ts";
import { laterReservedNames } from "../../../core/schema/read/check-tree.ts";
import { type Cursor, parseCursor } from "./cursor.ts";
import { anyParameter, type Filters, fieldOf, filtersOf } from "./filters.ts";
import { chosenFields, fieldNames, type Parameters, queryParameters, wholeNumber } from "./query-parameters.ts";
import { type Order, type SortKey, sortOrder } from "./sort.ts";

export interface ListQuery extends Filters {
  readonly limit: number;
  readonly offset: number;
  /** Absent for pages by offset; `after` is absent at the start. */
  readonly cursor?: { readonly text: string; readonly after?: Cursor };
  readonly order: Order;
  /** What to keep of each object; absent = everything. */
  readonly fields?: Selection;
  readonly counted: boolean;
  /** Whether the response has the tag of each object. */
  readonly tagged: boolean;
  /** Whether the objects shown meet the schema; absent = both those that do and others. */
  readonly valid?: boolean;
  /** The field by whose values objects are counted, and `order` is by; absent = they are listed. */
  readonly countBy?: SortKey;
  /** What links repeat behind their paging: percent-encoded, each with a leading `&`, or empty. */
  readonly suffix: string;
}

const defaultLimit = 10;
const countByParameter = "_count_by";
const listParameters: ReadonlySet<string> = new Set([
  "_limit",
  "_offset",
  "_cursor",
  "_sort",
  "_fields",
  "_count",
  "_etags",
  "_valid",
  anyParameter,
  countByParameter,
  // Of changes (changes/asked.ts): such a request is planned as a list.
  "_position",
]);
/** In the order in which links have them. */
const repeated = ["_sort", "_fields", "_count", "_etags", "_valid", anyParameter, countByParameter] as const;

/** A declared name that was reserved later (check-tree.ts) is a filter, and no parameter. */
function reservedIn({ properties }: CompiledSchema): ReadonlySet<string> {
  const declared = laterReservedNames.filter((name) => properties.has(name) && listParameters.has(name));
  return declared.length === 0 ? listParameters : listParameters.difference(new Set(declared));
}

/** Whether lists take a parameter of this name, with or without an operator. */
export function isListParameter(name: string, schema: CompiledSchema): boolean {
  const field = name.replace(/:[^:]*$/, "");
  return [name, field].some((each) => listParameters.has(each) || fieldOf(schema, each) !== undefined);
}

export function validateList(query: string, schema: CompiledSchema, project: ProjectSettings): ListQuery {
  const { maxPageSize } = project.limits;
  const parameters = queryParameters(query);
  const reserved = reservedIn(schema);
  const limit = wholeNumber(parameters, "_limit", { fallback: defaultLimit, min: 1, max: maxPageSize });
  const offset = wholeNumber(parameters, "_offset", { fallback: 0, min: 0, max: Number.POSITIVE_INFINITY });
  const countBy = reserved.has(countByParameter) ? countedField(parameters, schema) : undefined;
  const order = countBy ? { keys: [countBy], descending: false } : sortOrder(parameters.get("_sort"), schema);
  const cursor = cursorOf(parameters, order);
  const fields = chosenFields(parameters.get("_fields"), schema);
  const asksValid = reserved.has("_valid") && parameters.has("_valid");
  return {
    limit,
    // An offset that is too large to count with is past the end, like the largest one.
    offset: Math.min(offset, Number.MAX_SAFE_INTEGER),
    ...(cursor && { cursor }),
    order,
    ...filtersOf(parameters, schema, reserved),
    ...(fields && { fields }),
    counted: trueOrFalse(parameters, "_count", true),
    tagged: reserved.has("_etags") && trueOrFalse(parameters, "_etags", false),
    ...(asksValid && { valid: trueOrFalse(parameters, "_valid", true) }),
    ...(countBy && { countBy }),
    suffix: suffix(parameters, reserved),
  };
}

function cursorOf(parameters: Parameters, order: Order): ListQuery["cursor"] {
  const text = parameters.get("_cursor");
  if (text === undefined) return undefined;
  if (parameters.has("_offset")) {
    throw new Problem(
      "invalid_parameter",
      "`_cursor` and `_offset` both set where the page begins; send only one of them",
    );
  }
  return text === "" ? { text } : { text, after: parseCursor(text, order) };
}

function trueOrFalse(parameters: Parameters, name: string, fallback: boolean): boolean {
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  if (text === "true" || text === "false") return text === "true";
  throw new Problem("invalid_parameter", `\`${name}\` must be \`true\` or \`false\``);
}

function suffix(parameters: Parameters, reserved: ReadonlySet<string>): string {
  let text = "";
  for (const name of repeated) {
    const value = reserved.has(name) ? parameters.get(name) : undefined;
    if (value !== undefined) text += `&${name}=${encodeURIComponent(value)}`;
  }
  for (const [name, value] of parameters) {
    if (!reserved.has(name)) text += `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}

/** What shows objects, of which there are none. */
const ofPages = ["_limit", "_offset", "_cursor", "_sort", "_fields", "_count", "_etags"];

/** Refuses a field without values to tell apart, and parameters for pages beside it. */
function countedField(parameters: Parameters, schema: CompiledSchema): SortKey | undefined {
  const name = parameters.get(countByParameter);
  if (name === undefined) return undefined;
  const unused = ofPages.find((each) => parameters.has(each) && !schema.properties.has(each));
  if (unused !== undefined) {
    throw new Problem("invalid_parameter", `\`${countByParameter}\` shows no objects; leave \`${unused}\` out`);
  }
  const field = resolveField(schema, name);
  if (field === undefined) {
    throw new Problem(
      "invalid_parameter",
      `\`${countByParameter}\` must name one field of the schema, which has ${fieldNames(schema)}`,
    );
  }
  const { types } = field;
  if (types.length > 0 && types.every((type) => type === "array" || type === "object")) {
    throw new Problem(
      "invalid_parameter",
      `\`${name}\` holds ${types.join("s and ")}s, which can't be counted by value`,
    );
  }
  return { name, path: field.path, descending: false };
}
