// Numbers as written: a double has fewer digits. Browsers without JSON.parse source text access
// show doubles.

export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** As part of an object or array. */
  toJSON(): unknown {
    return "rawJSON" in JSON ? (JSON as { rawJSON(text: string): unknown }).rawJSON(this.text) : Number(this.text);
  }
}

/** A reviver for JSON.parse. */
export function keepNumbersExact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" ? new ExactNumber(context?.source ?? String(value)) : value;
}
