// What a list should hold, worked out plainly: parsed values instead of texts, a comparison written
// from docs/queries.md instead of encodings, every object looked at instead of an index. Slow, and
// nothing in it is shared with what it checks.

export interface Asked {
  readonly field: readonly string[];
  readonly operator: string;
  /** What stands behind the equals sign, decoded. */
  readonly text: string;
  /** `any` = untyped: a text may mean a literal too. */
  readonly type: "any" | "string" | "number";
}

export interface SortedBy {
  readonly field: readonly string[];
  readonly descending: boolean;
}

/** Whole numbers of any size are bigints, so that no digit is lost; the others are doubles. */
type Value =
  | null
  | boolean
  | string
  | bigint
  | number
  | undefined
  | readonly Value[]
  | { readonly [name: string]: Value };

/** What `asked` finds, and, where there is `any`, at least one of those. */
export function matching(
  texts: readonly string[],
  { asked, any }: { readonly asked: readonly Asked[]; readonly any: readonly Asked[] | undefined },
  sort: readonly SortedBy[],
): string[] {
  const parsed = texts.map((text, position) => ({ text, position, value: parse(text) }));
  const meetsOne = (value: Value, each: Asked) => meets(at(value, each.field), each);
  const found = parsed.filter(
    ({ value }) => asked.every((each) => meetsOne(value, each)) && (any?.some((each) => meetsOne(value, each)) ?? true),
  );
  found.sort((one, other) => {
    for (const key of sort) {
      const order = byKey(one, other, key);
      if (order !== 0) return order;
    }
    return (one.position - other.position) * (sort.at(-1)?.descending ? -1 : 1);
  });
  return found.map(({ text }) => text);
}

/** Of a value by name, or of all that have none. */
type NamedCount = readonly [name: string | undefined, count: number];

/**
 * How many have each value, ascending; what is an array, an object or a string from 1,024 bytes on
 * is counted together under `undefined`, and last.
 */
export function countsOf(texts: readonly string[], field: readonly string[]): readonly NamedCount[] {
  const values = texts.map((text) => at(parse(text), field) ?? null).toSorted(compare);
  const groups = Map.groupBy(values, nameOf);
  const others = groups.get(undefined);
  groups.delete(undefined);
  const counts = [...groups].map(([name, alike]) => [name, alike.length] as const);
  return others === undefined ? counts : [...counts, [undefined, others.length]];
}

/** Of an answer, in the same form. */
export function shownCounts(text: string): readonly NamedCount[] {
  const { counts } = parse(text) as { readonly counts: readonly { readonly value?: Value; readonly count: bigint }[] };
  return counts.map((each) => [Object.hasOwn(each, "value") ? nameOf(each.value) : undefined, Number(each.count)]);
}

function nameOf(value: Value): string | undefined {
  if (value === undefined || value === null) return "null";
  if (typeof value === "string") return Buffer.byteLength(value) < 1024 ? JSON.stringify(value) : undefined;
  if (typeof value === "object") return undefined;
  return typeof value === "number" && Number.isInteger(value) ? String(BigInt(value)) : String(value);
}

interface Placed {
  readonly position: number;
  readonly value: Value;
}

function byKey(one: Placed, other: Placed, { field, descending }: SortedBy): number {
  const order =
    field[0] === "id" ? one.position - other.position : compare(at(one.value, field), at(other.value, field));
  return descending ? -order : order;
}

type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown;

function parse(text: string): Value {
  const revive: Reviver = (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown) as Value;
}

function at(value: Value, field: readonly string[]): Value {
  let found = value;
  for (const name of field) {
    if (typeof found !== "object" || found === null || Array.isArray(found)) return undefined;
    found = Object.hasOwn(found, name) ? (found as Record<string, Value>)[name] : undefined;
  }
  return found;
}

function meets(value: Value, { operator, text, type }: Asked): boolean {
  const means = (word: string) => meanings(word, type);
  switch (operator) {
    case "eq":
      return means(text).some((wanted) => same(value, wanted));
    case "ne":
      return !means(text).some((wanted) => same(value, wanted));
    case "in":
      return words(text).some((word) => means(word).some((wanted) => same(value, wanted)));
    case "gt":
      return means(text).some((wanted) => kind(value) === kind(wanted) && compare(value, wanted) > 0);
    case "ge":
      return means(text).some((wanted) => kind(value) === kind(wanted) && compare(value, wanted) >= 0);
    case "lt":
      return means(text).some((wanted) => kind(value) === kind(wanted) && compare(value, wanted) < 0);
    case "le":
      return means(text).some((wanted) => kind(value) === kind(wanted) && compare(value, wanted) <= 0);
    case "starts":
      return typeof value === "string" && value.startsWith(text);
    case "exists":
      return (value !== undefined && value !== null) === (text === "true");
    case "contains":
      if (typeof value === "string") return value.includes(text);
      return (
        Array.isArray(value) &&
        value.some(
          (element) =>
            (element === null || typeof element !== "object") &&
            meanings(text, "any").some((wanted) => same(element, wanted)),
        )
      );
    default:
      throw new Error(`The model knows no operator ${operator}`);
  }
}

function meanings(text: string, type: Asked["type"]): readonly Value[] {
  if (type === "string") return [text];
  try {
    const literal = parse(text);
    const isScalar = typeof literal !== "object" || literal === null;
    if (isScalar) return type === "number" ? [literal] : [literal, text];
  } catch {
    // No literal.
  }
  return [text];
}

function words(text: string): readonly string[] {
  return text
    .replaceAll("\\\\", "\u{10fffe}")
    .replaceAll("\\,", "\u{10ffff}")
    .split(",")
    .map((word) => word.replaceAll("\u{10ffff}", ",").replaceAll("\u{10fffe}", "\\"));
}

function same(one: Value, other: Value): boolean {
  if (kind(one) !== kind(other)) return false;
  return typeof one === "string" ? one === other : compare(one, other) === 0;
}

function kind(value: Value): string {
  if (value === undefined || value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "bigint" ? "number" : typeof value;
}

const kinds = ["null", "boolean", "number", "string", "array", "object"];

function compare(one: Value, other: Value): number {
  const order = kinds.indexOf(kind(one)) - kinds.indexOf(kind(other));
  if (order !== 0) return order;
  if (typeof one === "string" && typeof other === "string") return compareStrings(one, other);
  if (typeof one === "boolean") return Number(one) - Number(other);
  if (kind(one) !== "number") return 0;
  // JavaScript compares a bigint with a double by their exact values.
  if ((one as number) < (other as number)) return -1;
  return (one as number) > (other as number) ? 1 : 0;
}

function compareStrings(one: string, other: string): number {
  const [left, right] = [counted(one), counted(other)];
  for (let position = 0; position < Math.min(left.length, right.length); position += 1) {
    const order = (left[position] ?? 0) - (right[position] ?? 0);
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

/** The code points up to the one in which the 1,024th byte lies. */
function counted(text: string): readonly number[] {
  const points: number[] = [];
  let bytes = 0;
  for (const character of text) {
    if (bytes >= 1024) break;
    bytes += Buffer.byteLength(character);
    points.push(character.codePointAt(0) ?? 0);
  }
  return points;
}
