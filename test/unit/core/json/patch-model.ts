// JSON Patch and JSON Merge Patch as their RFCs tell them, on parsed values: slow, plain, and
// without a care for text.

export type ModelValue = null | boolean | string | NumberText | ModelValue[] | Map<string, ModelValue>;

/** A number as it was written. */
export class NumberText {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

export interface ModelOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: readonly string[];
  readonly from?: readonly string[];
  readonly value?: string;
}

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

export function modelOf(text: string): ModelValue {
  const numbersKept: Reviver = (_key, value, { source }) =>
    typeof value === "number" ? new NumberText(source ?? "") : value;
  return withMaps(parse(text, numbersKept));
}

function withMaps(value: unknown): ModelValue {
  if (Array.isArray(value)) return value.map(withMaps);
  if (typeof value !== "object" || value === null || value instanceof NumberText) return value as ModelValue;
  return new Map(Object.entries(value).map(([name, member]) => [name, withMaps(member)]));
}

export function textOfModel(value: ModelValue): string {
  if (value instanceof NumberText) return value.source;
  if (Array.isArray(value)) return `[${value.map(textOfModel).join(",")}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return `{${[...value].map(([name, member]) => `${JSON.stringify(name)}:${textOfModel(member)}`).join(",")}}`;
}

/** RFC 7396 §2. */
export function modelMerge(target: ModelValue | undefined, patch: ModelValue): ModelValue {
  if (!(patch instanceof Map)) return patch;
  const merged = new Map(target instanceof Map ? target : []);
  for (const [name, value] of patch) {
    if (value === null) merged.delete(name);
    else merged.set(name, modelMerge(merged.get(name), value));
  }
  return merged;
}

/** RFC 6902 §4; undefined when the operation fails. */
export function modelPatch(target: ModelValue, operation: ModelOperation): ModelValue | undefined {
  const { op, path, from = [] } = operation;
  const value = modelOf(operation.value ?? "null");
  switch (op) {
    case "add":
      return added(target, path, value);
    case "remove":
      return path.length === 0 ? undefined : removed(target, path);
    case "replace":
      return at(target, path) === undefined ? undefined : replaced(target, path, value);
    case "test":
      return tested(target, path, value);
    case "copy":
      return copied(target, from, path);
    case "move":
      return moved(target, from, path);
  }
}

type Segments = readonly string[];

function tested(target: ModelValue, path: Segments, value: ModelValue): ModelValue | undefined {
  const found = at(target, path);
  return found !== undefined && isSame(found, value) ? target : undefined;
}

function copied(target: ModelValue, from: Segments, path: Segments): ModelValue | undefined {
  const found = at(target, from);
  return found === undefined ? undefined : added(target, path, found);
}

function moved(target: ModelValue, from: Segments, path: Segments): ModelValue | undefined {
  const found = at(target, from);
  const goesBelow = from.every((segment, level) => path[level] === segment);
  if (found === undefined || goesBelow) return found !== undefined && from.length === path.length ? target : undefined;
  const without = removed(target, from);
  return without === undefined ? undefined : added(without, path, found);
}

function at(target: ModelValue, path: readonly string[]): ModelValue | undefined {
  let here: ModelValue | undefined = target;
  for (const segment of path) {
    if (here instanceof Map) here = here.get(segment);
    else if (Array.isArray(here) && String(Number(segment)) === segment) here = here[Number(segment)];
    else return undefined;
  }
  return here;
}

/** `target` with what `change` makes of the container above the path's end. */
function changed(
  target: ModelValue,
  path: readonly string[],
  change: (parent: ModelValue, last: string) => ModelValue | undefined,
): ModelValue | undefined {
  const [first = "", ...rest] = path;
  if (rest.length === 0) return change(target, first);
  const child = at(target, [first]);
  const fresh = child === undefined ? undefined : changed(child, rest, change);
  if (fresh === undefined) return undefined;
  if (target instanceof Map) return new Map(target).set(first, fresh);
  return (target as ModelValue[]).with(Number(first), fresh);
}

function added(target: ModelValue, path: readonly string[], value: ModelValue): ModelValue | undefined {
  if (path.length === 0) return value;
  return changed(target, path, (parent, last) => {
    if (parent instanceof Map) return new Map(parent).set(last, value);
    if (!Array.isArray(parent)) return undefined;
    const index = last === "-" ? parent.length : Number(last);
    if ((last !== "-" && String(index) !== last) || index < 0 || index > parent.length) return undefined;
    return Number.isInteger(index) ? parent.toSpliced(index, 0, value) : undefined;
  });
}

function removed(target: ModelValue, path: readonly string[]): ModelValue | undefined {
  if (at(target, path) === undefined) return undefined;
  return changed(target, path, (parent, last) => {
    if (Array.isArray(parent)) return parent.toSpliced(Number(last), 1);
    return new Map([...(parent as Map<string, ModelValue>)].filter(([name]) => name !== last));
  });
}

function replaced(target: ModelValue, path: readonly string[], value: ModelValue): ModelValue | undefined {
  if (path.length === 0) return value;
  return changed(target, path, (parent, last) =>
    Array.isArray(parent)
      ? parent.with(Number(last), value)
      : new Map(parent as Map<string, ModelValue>).set(last, value),
  );
}

function isSame(left: ModelValue, right: ModelValue): boolean {
  if (left instanceof NumberText && right instanceof NumberText) return decimal(left.source) === decimal(right.source);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSame(item, right[index] as ModelValue));
  }
  if (left instanceof Map && right instanceof Map) {
    return (
      left.size === right.size &&
      [...left].every(([name, value]) => right.has(name) && isSame(value, right.get(name) as ModelValue))
    );
  }
  return left === right;
}

/**
 * One text for all ways of writing a number: its sign, its digits without zeros at the ends, its
 * power of ten.
 */
function decimal(source: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(source) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/0+$/, "");
  if (significant === "") return "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

/** Every path into a value. */
export function pathsIn(value: ModelValue, above: Segments = []): Segments[] {
  return [above, ...childrenOf(value).flatMap(([name, child]) => pathsIn(child, [...above, name]))];
}

function childrenOf(value: ModelValue): readonly (readonly [string, ModelValue])[] {
  if (value instanceof Map) return [...value];
  return Array.isArray(value) ? value.map((item, index) => [String(index), item] as const) : [];
}

export function pointerTo(path: readonly string[]): string {
  return path.map((segment) => `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
