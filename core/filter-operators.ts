// The operators of filters: one table from which lists read them, OpenAPI documents describe them,
// and the console offers them. What each finds is in dataplane/objects/list/conditions.ts.

/** How the value of a filter is read, and of which values. */
export type OperandKind =
  /** One that the field can hold. */
  | "equal"
  /** One that compares with the field's: also a fraction for an integer, or the start of a date. */
  | "range"
  /** Several, separated by commas. */
  | "list"
  | "text"
  /** A text, or what an array may hold. */
  | "element"
  /** `true` or `false`. */
  | "boolean";

interface FilterOperator {
  /** A field fits that may hold one of these JSON types, or whose types are not declared. */
  readonly types: readonly string[];
  readonly operand: OperandKind;
  /** In the console. */
  readonly label: string;
  /** In OpenAPI documents: what holds of the field, and what if it is an array. */
  readonly finds: string;
  readonly findsOfArrays?: string;
  /** Its names in other services. */
  readonly aliases: readonly string[];
}

const scalars = ["string", "number", "integer", "boolean", "null"] as const;
const all = [...scalars, "array", "object"] as const;

/** In the order in which they are offered. `eq` is written without a colon. */
export const filterOperators = {
  eq: { types: scalars, operand: "equal", label: "=", finds: "equals this value", aliases: [] },
  gt: { types: scalars, operand: "range", label: ">", finds: "is greater than this value", aliases: [] },
  ge: { types: scalars, operand: "range", label: "≥", finds: "is at least this value", aliases: ["gte"] },
  lt: { types: scalars, operand: "range", label: "<", finds: "is less than this value", aliases: [] },
  le: { types: scalars, operand: "range", label: "≤", finds: "is at most this value", aliases: ["lte"] },
  ne: { types: scalars, operand: "equal", label: "≠", finds: "does not equal this value", aliases: ["neq", "not"] },
  in: {
    types: scalars,
    operand: "list",
    label: "is one of",
    finds: "equals one of these values, separated by commas",
    aliases: [],
  },
  starts: {
    types: ["string"],
    operand: "text",
    label: "starts with",
    finds: "starts with this text",
    aliases: ["startswith"],
  },
  contains: {
    types: ["string", "array"],
    operand: "element",
    label: "contains",
    finds: "is a string that contains this text",
    findsOfArrays: "is an array with an element that equals this value",
    aliases: ["like"],
  },
  exists: {
    types: all,
    operand: "boolean",
    label: "exists",
    finds: "exists and is not null; with `false` all others",
    aliases: [],
  },
} as const satisfies Readonly<Record<string, FilterOperator>>;

export type Operator = keyof typeof filterOperators;

const table: Readonly<Record<Operator, FilterOperator>> = filterOperators;
const names = Object.keys(filterOperators) as Operator[];

/** Those that a field of these types can be filtered by; no types = any value. */
export function operatorsFor(types: readonly string[]): readonly Operator[] {
  return names.filter((name) => types.length === 0 || types.some((type) => table[name].types.includes(type)));
}

export function operandKind(operator: Operator): OperandKind {
  return table[operator].operand;
}

/** The operator that has this name, here or in other services. */
export function operatorNamed(name: string): Operator | undefined {
  const wanted = name.toLowerCase();
  return names.find((each) => each === wanted || table[each].aliases.includes(wanted));
}

/** What holds of a field of these types. */
export function phraseOf(operator: Operator, types: readonly string[]): string {
  const { finds, findsOfArrays } = table[operator];
  if (findsOfArrays === undefined) return finds;
  const mayBe = (type: string): boolean => types.length === 0 || types.includes(type);
  return [...(mayBe("string") ? [finds] : []), ...(mayBe("array") ? [findsOfArrays] : [])].join(" or ");
}
