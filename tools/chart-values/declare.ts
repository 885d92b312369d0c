// The words that a chart's values are declared with: each is a JSON Schema (draft-07) with a description and a default.

export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly [keyword: string]: unknown;
}

type Keywords = Readonly<Record<string, unknown>>;

/** A group of values; others than these are refused. */
export function group(description: string, properties: Readonly<Record<string, ValueSchema>>): ValueSchema {
  return { description, type: "object", additionalProperties: false, properties };
}

export function text(description: string, fallback = "", keywords: Keywords = {}): ValueSchema {
  return { description, type: "string", ...keywords, default: fallback };
}

export function choice(description: string, fallback: string, values: readonly string[]): ValueSchema {
  return text(description, fallback, { enum: values });
}

export function count(
  description: string,
  fallback: number,
  [minimum, maximum]: readonly [number, number],
): ValueSchema {
  return { description, type: "integer", minimum, maximum, default: fallback };
}

export function flag(description: string, fallback: boolean): ValueSchema {
  return { description, type: "boolean", default: fallback };
}

export function list(description: string, items: ValueSchema, keywords: Keywords = {}): ValueSchema {
  return { description, type: "array", items, default: [], ...keywords };
}

/** Of names to texts, such as labels. */
export function texts(description: string, fallback: Readonly<Record<string, string>> = {}): ValueSchema {
  return { description, type: "object", additionalProperties: { type: "string" }, default: fallback };
}

/** Handed to Kubernetes as it is, which checks it. */
export function kubernetes(description: string, fallback: Readonly<Record<string, unknown>> = {}): ValueSchema {
  return { description, type: "object", default: fallback };
}

export const anyObject: ValueSchema = { type: "object" };
