// What a form makes of the JSON text that it shows, without parsing it, so that every digit and all
// members that the form doesn't know stay.

import { canonicalJson } from "../../../core/json/canonical.ts";
import { segmentsOf } from "../../../core/json/json-pointer.ts";
import { kindOf, membersIn } from "../../../core/json/members.ts";
import { type EditorFault, isUntouched } from "../editor/faults.ts";
import { maxStoredDepth } from "../editor/pretty.ts";
import { type Control, type Field, isNullable } from "../fields.ts";
import { singularOf } from "../objects/names.ts";

/** Of a list in a form: nobody reads more one by one. */
const maxEntries = 100;

/** Whether a value counts as not entered: a form shows null like nothing. */
export function isUnset(value: string | undefined): value is "null" | undefined {
  return value === undefined || value === "null";
}

/** Canonical text of the object; undefined where the text is none. */
export function objectText(text: string): string | undefined {
  const read = canonicalJson(text, maxStoredDepth);
  return read.ok && read.json.kind === "object" ? read.json.text : undefined;
}

/** What a new object begins with: nothing that its writer has not seen in the form. */
export function firstText(fields: readonly Field[]): string {
  const members = fields.flatMap((field) => {
    const value = field.isRequired ? firstValue(field) : undefined;
    return value === undefined ? [] : [`${JSON.stringify(field.name)}:${value}`];
  });
  return `{${members.join(",")}}`;
}

/** Undefined where a person has to enter something. */
function firstValue({ control }: Field): string | undefined {
  switch (control.kind) {
    case "group":
      return firstText(control.fields);
    case "list":
      return "[]";
    case "boolean":
      return "false";
    case "json":
      return "null";
    case "choice":
      return control.options.length === 1 ? control.options[0] : undefined;
    default:
      return undefined;
  }
}

/** A new element of a list, which can't be absent. */
export function firstElement(item: Field): string {
  return firstValue(item) ?? (item.control.kind === "text" ? '""' : "null");
}

/** What stays of a value that a person has cleared. */
export function clearedValue(field: Field): string | undefined {
  return field.isRequired && isNullable(field) ? "null" : undefined;
}

/** Whether the control can show the value: a schema doesn't bind what was stored before it. */
export function fits(control: Control, value: string | undefined): boolean {
  if (isUnset(value)) return true;
  const kind = kindOf(value);
  switch (control.kind) {
    case "text":
      return kind === "string" && hasFormat(control.format, JSON.parse(value) as string);
    case "choice":
      return kind !== "object" && kind !== "array";
    case "group":
      return kind === "object";
    case "list":
      return kind === "array" && membersIn(value) <= maxEntries;
    default:
      return kind === control.kind;
  }
}

function hasFormat(format: string | undefined, text: string): boolean {
  if (format === "date") return /^\d{4}-\d\d-\d\d$/.test(text);
  return format !== "date-time" || !Number.isNaN(Date.parse(text));
}

/** The JSON number that a person has typed; undefined of anything else. */
export function numberText(typed: string): string | undefined {
  const read = canonicalJson(typed, 0);
  if (read.ok && read.json.kind === "number") return read.json.text;
  // HTML takes `.5`, too.
  const number = Number(typed);
  return typed.trim() !== "" && Number.isFinite(number) ? String(number) : undefined;
}

/** An RFC 3339 time in the reader's time zone, as a datetime-local input has it. */
export function localTime(time: string): string {
  const date = new Date(time);
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  return shifted.slice(0, shifted.slice(17, 19) === "00" ? 16 : 19);
}

/** The reverse. */
export function timeAt(local: string): string {
  return new Date(local).toISOString().replace(".000Z", "Z");
}

/** The faults of what has not been changed since the server refused it. */
export function standingFaults(faults: readonly EditorFault[], before: string, after: string): readonly EditorFault[] {
  return before === after ? faults : faults.filter(({ pointer }) => isUntouched(pointer, before, after));
}

/** Whether one of the fields shows what is wrong at the pointer. */
export function hasFieldAt(fields: readonly Field[], pointer: string): boolean {
  return leadsToField(fields, segmentsOf(pointer));
}

function leadsToField(fields: readonly Field[], [name, ...rest]: readonly string[]): boolean {
  const found = fields.find((field) => field.name === name);
  if (found === undefined || rest.length === 0) return found !== undefined;
  return found.control.kind === "json" || leadsToField(fieldsIn(found, rest), rest);
}

/** What people read of a place: labels, and the names of what has none. */
export function labelAt(fields: readonly Field[], pointer: string): string {
  return labelsOf(fields, segmentsOf(pointer)).join(" › ");
}

function labelsOf(fields: readonly Field[], [name, ...rest]: readonly string[]): readonly string[] {
  if (name === undefined) return [];
  const found = fields.find((field) => field.name === name);
  return found === undefined ? [name, ...rest] : [found.label, ...labelsOf(fieldsIn(found, rest), rest)];
}

/** The fields of a group, or the element of a list to which `rest` leads. */
function fieldsIn({ label, control }: Field, [name = ""]: readonly string[]): readonly Field[] {
  if (control.kind === "group") return control.fields;
  if (control.kind !== "list") return [];
  return [{ ...control.item, name, label: `${singularOf(label)} ${Number(name) + 1}` }];
}
