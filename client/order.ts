// The order of lists, for objects that are already here (docs/queries.md).

type Fields = Readonly<Record<string, unknown>>;
export type Comparison = (one: object, other: object) => number;

/** By up to four fields, a minus before those in descending order; ties in order of creation. */
export function orderOf(sort: readonly string[]): Comparison {
  const keys = sort.map((text) => ({ path: text.replace(/^-/, "").split("."), sign: text.startsWith("-") ? -1 : 1 }));
  const tie = keys.at(-1)?.sign ?? 1;
  return (one, other) => {
    for (const { path, sign } of keys) {
      const order = compare(valueAt(one, path), valueAt(other, path));
      if (order !== 0) return order * sign;
    }
    return tie * compare(valueAt(one, ["id"]), valueAt(other, ["id"]));
  };
}

function valueAt(object: object, path: readonly string[]): unknown {
  const whole = path.length > 1 ? (object as Fields)[path.join(".")] : undefined;
  return whole ?? path.reduce<unknown>((value, name) => (value as Fields | null | undefined)?.[name], object);
}

function compare(one: unknown, other: unknown): number {
  const [left, right] = [rankOf(one), rankOf(other)];
  if (left !== right) return left - right;
  if (typeof one === "string" || typeof one === "number")
    return Number(one > (other as string)) - Number(one < (other as string));
  return Number(one ?? false) - Number(other ?? false) || 0;
}

function rankOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (Array.isArray(value)) return 4;
  return { boolean: 1, number: 2, string: 3 }[typeof value as "boolean"] ?? 5;
}
