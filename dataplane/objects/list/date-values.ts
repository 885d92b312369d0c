// Refuses, with `invalid_parameter`, a filter's value that can't be compared with the dates that a field holds. Dates are compared as
// texts, so that the beginning of one (`2026-01`) has a place among them, and `yesterday` or `31.1.2026` has none.

import { Problem } from "../../../core/errors/problem.ts";
import { type Operator, operandKind } from "../../../core/filter-operators.ts";
import type { DateFormat, DeclaredProperty } from "../../../core/schema/declared-properties.ts";
import { checkedFormat } from "../../../core/schema/formats.ts";
import { Meter } from "../../../core/schema/meter.ts";
import { nullHint } from "./parameter-hints.ts";

export function requireDate({ name, types, format }: DeclaredProperty, operator: Operator, text: string): void {
  if (format === undefined || (text === "null" && types.includes("null"))) return;
  const value = operandKind(operator);
  if (value === "equal" && !isDate(text, format)) throw notADate(name, format, nullHint(name, text));
  if (value === "range" && !isDate(completed(text, format), format)) {
    throw notADate(`${name}:${operator}`, format, ", or its beginning, as in `2026-01`");
  }
}

const beginnings: Readonly<Record<DateFormat, string>> = { date: "0000-01-01", "date-time": "0000-01-01T00:00:00Z" };

/** A year, a month, a day, and whatever part of a time: `2026-1` would come behind September. */
const beginning = /^\d{4}(?:-\d{2}(?:-\d{2}(?:T.*)?)?)?$/;

/** The first date that begins so; what is no beginning stays as it is. */
function completed(text: string, format: DateFormat): string {
  if (!beginning.test(text)) return text;
  const rest = beginnings[format].slice(text.length);
  return text + (rest === "" && /\.\d+$/.test(text) ? "Z" : rest);
}

const maxWork = 10_000;

function isDate(text: string, format: DateFormat): boolean {
  const meter = new Meter();
  meter.left = maxWork;
  return checkedFormat(format)?.fits(text, meter) === true;
}

const examples: Readonly<Record<DateFormat, string>> = { date: "`2026-01-31`", "date-time": "`2026-01-31T09:00:00Z`" };

function notADate(parameter: string, format: DateFormat, orElse: string): Problem {
  const plus = format === "date-time" ? "; in a query, `%2B` is a plus sign" : "";
  return new Problem(
    "invalid_parameter",
    `\`${parameter}\` must be a ${format}, as in ${examples[format]}${orElse}${plus}`,
  );
}
