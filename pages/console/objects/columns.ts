// Which columns a list has: what is read of an object first, then the values of the schema's
// properties, also within other objects, and what else was stored. What the schema declares stays
// from page to page; lists, and what it does not declare, are left out where the page has none.

import type { Field } from "../fields.ts";
import { ofTheServer } from "./changes.ts";
import { ExactNumber } from "./exact-number.ts";

export interface StoredObject {
  readonly id: string;
  readonly _metadata?: { readonly created?: unknown; readonly creator?: unknown };
  readonly [name: string]: unknown;
}

/** An object of a list with its tag. */
export interface ListedObject {
  readonly item: StoredObject;
  readonly etag: string | undefined;
}

export interface Column {
  /** As in `_sort`: `author.name`. */
  readonly name: string;
  readonly path: readonly string[];
  /** Undefined where the schema does not declare it. */
  readonly field?: Field;
}

/** More would not be read side by side. */
const maxColumns = 8;
/** Levels of objects whose values get columns of their own. */
const maxLevels = 3;

/** The first one is what people read of an object, if any is: see `leadOf`. */
export function columnsOf(fields: readonly Field[], items: readonly StoredObject[]): readonly Column[] {
  const declared = new Map(declaredIn(fields, []).map((column) => [column.name, column]));
  const found = items.flatMap((item) => columnsIn(item, [], declared));
  // Those of the schema in the order in which people wrote it.
  const byName = new Map([...declared, ...found.map((column) => [column.name, column] as const)]);
  const stays = (column: Column): boolean => column.field !== undefined && isShort(column);
  const offered = [...byName.values()].filter(
    (column) => stays(column) || items.some((item) => !isEmpty(valueIn(item, column.path))),
  );
  const lead = leadOf(offered, items);
  const others = offered.filter((column) => column !== lead);
  const shown = new Set(
    [...others.filter(isShort), ...others.filter((column) => !isShort(column))].slice(0, maxColumns),
  );
  return [...(lead === undefined ? [] : [lead]), ...others.filter((column) => shown.has(column))];
}

/** A text called `title` or `name`, else the first required text, else any, else a choice. */
export function leadOf(columns: readonly Column[], items: readonly StoredObject[]): Column | undefined {
  const texts = columns.filter(({ path }) => items.some((item) => typeof valueIn(item, path) === "string"));
  const free = texts.filter(({ field }) => field === undefined || isFreeText(field));
  const rules: readonly ((column: Column) => boolean)[] = [
    ({ name }) => name === "title",
    ({ name }) => name === "name",
    ({ field }) => field?.isRequired === true,
  ];
  return rules.map((rule) => free.find(rule)).find((found) => found !== undefined) ?? free[0] ?? texts[0];
}

/** What an object is called: the same as in the list; undefined where it has no text. */
export function titleOf(fields: readonly Field[], object: StoredObject): string | undefined {
  const lead = leadOf(columnsOf(fields, [object]), [object]);
  const value = lead === undefined ? undefined : valueIn(object, lead.path);
  return typeof value === "string" ? value : undefined;
}

/** Undefined where the path leads nowhere. */
export function valueIn(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isParent(at) && Object.hasOwn(at, name) ? at[name] : undefined), object);
}

export function isNumeric({ field }: Column, values: readonly unknown[]): boolean {
  if (field !== undefined && field.control.kind !== "json") return field.control.kind === "number";
  return values.every((value) => value instanceof ExactNumber || isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0);
}

function isParent(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

export function isFreeText({ control }: Field): boolean {
  return control.kind === "text" && !["date", "date-time", "time", "uuid"].includes(control.format ?? "");
}

function isShort({ field }: Column): boolean {
  return field === undefined || (field.control.kind !== "list" && field.control.kind !== "json");
}

/** Also within other objects. */
export function declaredIn(fields: readonly Field[], above: readonly string[]): readonly Column[] {
  return fields.flatMap((field) => {
    const path = [...above, field.name];
    const { control } = field;
    if (control.kind === "group" && path.length < maxLevels) return declaredIn(control.fields, path);
    return [{ name: path.join("."), path, field }];
  });
}

function columnsIn(parent: object, above: readonly string[], declared: ReadonlyMap<string, Column>): readonly Column[] {
  return Object.entries(parent).flatMap(([name, value]) => {
    const path = [...above, name];
    const known = path.join(".");
    if (declared.has(known) || ofTheServer.has(known)) return [];
    return isParent(value) && path.length < maxLevels ? columnsIn(value, path, declared) : [{ name: known, path }];
  });
}
