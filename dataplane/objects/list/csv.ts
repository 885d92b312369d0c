// A page of a list as CSV: a column for each declared value, those of nested objects with dotted
// names, and a record for each object. Values stay text, so that numbers keep their digits.

import Negotiator from "negotiator";
import { endOfRecord } from "../../../core/csv.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { nameIn } from "../../../core/json/members.ts";
import type { Selection } from "../../../core/json/selection.ts";
import { endOfString, endOfValue } from "../../../core/json/walk.ts";
import type { CompiledSchema } from "../../../core/schema/compile-schema.ts";
import type { DeclaredProperty } from "../../../core/schema/declared-properties.ts";
import type { ListQuery } from "./query.ts";
import { inSpells } from "./spells.ts";

/** RFC 4180 §3. */
export const csvType = "text/csv; charset=utf-8; header=present";

export interface CsvColumns {
  /** As in `_fields`. */
  readonly names: readonly string[];
  readonly places: Places;
}

/** By the names of members: at which place of a record a value stands, or its members do. */
interface Places extends ReadonlyMap<string, number | Places> {}

/** The columns of a page, where Accept prefers CSV; otherwise undefined. */
export function askedColumns(
  accept: string | undefined,
  { fields, tagged }: ListQuery,
  schema: CompiledSchema,
): CsvColumns | undefined {
  if (accept === undefined || !prefersCsv(accept)) return undefined;
  if (tagged) throw new Problem("invalid_parameter", "`_etags` is for lists as JSON; CSV has no place for tags");
  return csvColumns(schema, fields);
}

function prefersCsv(accept: string): boolean {
  if (!/text\/csv/i.test(accept)) return false;
  const [first] = new Negotiator({ headers: { accept } }).mediaTypes(["application/json", csvType]);
  return first === csvType;
}

export function csvColumns({ properties }: CompiledSchema, fields: Selection | undefined): CsvColumns {
  const membersOf = Map.groupBy(properties.values(), ({ path }) => keyOf(path.slice(0, -1)));
  const names: string[] = [];
  const placesOf = (selection: Selection, above: readonly string[]): Places => {
    const places = new Map<string, number | Places>();
    for (const [name, part] of selection) {
      const path = above.concat(name);
      const members = part === "whole" ? membersAt(path) : part;
      places.set(name, members === undefined ? names.push(path.join(".")) - 1 : placesOf(members, path));
    }
    return places;
  };
  const membersAt = (path: readonly string[]): Selection | undefined => {
    if (path.length === 1 && path[0] === "_metadata") return whole(metadata);
    const property = properties.get(path.join("."));
    const members = membersOf.get(keyOf(path));
    return property === undefined || members === undefined || !isObjectOnly(property) ? undefined : wholeOf(members);
  };
  const all = new Map([...whole(["id"]), ...wholeOf(membersOf.get(keyOf([])) ?? []), ...whole(["_metadata"])]);
  return { places: placesOf(fields ?? all, []), names };
}

const metadata = ["created", "creator", "creator_type"];

function keyOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** What may be anything else has one column, since it has no members then. */
function isObjectOnly({ types }: DeclaredProperty): boolean {
  return types.includes("object") && types.every((type) => type === "object" || type === "null");
}

function wholeOf(members: readonly DeclaredProperty[]): Selection {
  return whole(members.map(({ path }) => path.at(-1) ?? ""));
}

function whole(names: readonly string[]): Selection {
  return new Map(names.map((name) => [name, "whole"]));
}

export async function csvText({ names, places }: CsvColumns, texts: readonly string[]): Promise<string> {
  const records = [names.map(textField).join(",")];
  await inSpells(texts, (text) => {
    const fields = new Array<string>(names.length).fill("");
    fillFields(text, 0, places, fields);
    records.push(fields.join(","));
    return true;
  });
  return records.join(endOfRecord) + endOfRecord;
}

/** Writes the values of the object at `start`; returns the position after it. */
function fillFields(text: string, start: number, places: Places, fields: string[]): number {
  let at = start + 1;
  while (text.charAt(at) !== "}") {
    const nameStart = text.charAt(at) === "," ? at + 1 : at;
    const valueStart = endOfString(text, nameStart) + 1;
    const place = places.get(nameIn(text, nameStart, valueStart - 1));
    if (typeof place === "object" && text.charAt(valueStart) === "{") {
      at = fillFields(text, valueStart, place, fields);
      continue;
    }
    at = endOfValue(text, valueStart);
    if (typeof place === "number") fields[place] = fieldOf(text.slice(valueStart, at));
  }
  return at + 1;
}

function fieldOf(value: string): string {
  if (value.startsWith('"')) return textField(JSON.parse(value) as string);
  return value === "null" ? "" : quoteWhereNeeded(value);
}

/** OWASP, CSV Injection: what a cell begins with that a spreadsheet computes, in both widths. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
const special = /[",\r\n]/;

/**
 * A field (RFC 4180) with text of a person: what looks like a formula gets an apostrophe in front.
 * Empty text is `""`.
 */
function textField(text: string): string {
  const harmless = formula.test(text) ? `'${text}` : text;
  return harmless === "" ? '""' : quoteWhereNeeded(harmless);
}

/** A field as it is. */
function quoteWhereNeeded(text: string): string {
  return special.test(text) ? `"${text.length < longText ? text.replaceAll('"', '""') : doubled(text)}"` : text;
}

/** Characters. Where a text of MiB has a quote in each third, replaceAll takes a second. */
const longText = 4_096;
const quote = 0x22;

/** With each quote twice. */
function doubled(text: string): string {
  const bytes = Buffer.from(text);
  const written = Buffer.allocUnsafe(2 * bytes.length);
  let end = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) written[end++] = quote;
    written[end++] = byte;
  }
  return written.toString("utf8", 0, end);
}
