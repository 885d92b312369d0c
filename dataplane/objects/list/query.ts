// Turns the query text of a list into paging, order, filters and what is shown. Refuses unknown, repeated and malformed parameters
// with `invalid_parameter`, saying what is allowed.

import type { ProjectConfig } from "../../../core/config/types.ts";
import { Problem } from "../../../core/errors/problem.ts";
import type { Selection } from "../../../core/json/selection.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import { type Cursor, parseCursor } from "./cursor.ts";
import { type Filter, fieldFilters } from "./filters.ts";
import { chosenFields, type Parameters, queryParameters, wholeNumber } from "./query-parameters.ts";
import { type Order, sortOrder } from "./sort.ts";

export interface ListQuery {
  readonly limit: number;
  readonly offset: number;
  /** Present when pages are asked for by cursors, and has its text; `after` is absent at the start. */
  readonly cursor?: { readonly text: string; readonly after?: Cursor };
  readonly order: Order;
  readonly filters: readonly Filter[];
  /** What to keep of each object; absent = everything. */
  readonly fields?: Selection;
  readonly counted: boolean;
  /** What links repeat behind their paging: percent-encoded, each with a leading `&`, or empty. */
  readonly suffix: string;
}

const defaultLimit = 10;
const listParameters = new Set(["_limit", "_offset", "_cursor", "_sort", "_fields", "_count"]);
/** In the order in which links have them. */
const repeated = ["_sort", "_fields", "_count"] as const;

export function validateList(query: string, schema: CompiledSchema, project: ProjectConfig): ListQuery {
  const { maxPageSize } = project.limits;
  const parameters = queryParameters(query);
  const limit = wholeNumber(parameters, "_limit", { fallback: defaultLimit, min: 1, max: maxPageSize });
  const offset = wholeNumber(parameters, "_offset", { fallback: 0, min: 0, max: Number.POSITIVE_INFINITY });
  const order = sortOrder(parameters.get("_sort"), schema);
  const cursor = cursorOf(parameters, order);
  const fields = chosenFields(parameters.get("_fields"), schema);
  return {
    limit,
    // Past the end is past the end: an offset beyond all integers that can be counted with is as good as the largest.
    offset: Math.min(offset, Number.MAX_SAFE_INTEGER),
    ...(cursor && { cursor }),
    order,
    filters: fieldFilters(parameters, schema, listParameters),
    ...(fields && { fields }),
    counted: isCounted(parameters.get("_count")),
    suffix: suffix(parameters),
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

function isCounted(text: string | undefined): boolean {
  if (text === undefined || text === "true") return true;
  if (text === "false") return false;
  throw new Problem("invalid_parameter", "`_count` must be `true` or `false`");
}

function suffix(parameters: Parameters): string {
  let text = "";
  for (const name of repeated) {
    const value = parameters.get(name);
    if (value !== undefined) text += `&${name}=${encodeURIComponent(value)}`;
  }
  for (const [name, value] of parameters) {
    if (!listParameters.has(name)) text += `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}
