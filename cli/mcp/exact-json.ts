// Parses JSON so that JSON.stringify writes each number as it was: also an integer that no double
// holds, such as an id of 64 bits.

// TypeScript doesn't know them yet (ECMAScript proposal "JSON.parse source text access").
const { parse, rawJSON } = JSON as unknown as {
  parse(text: string, reviver: (key: string, value: unknown, context: { readonly source: string }) => unknown): unknown;
  rawJSON(text: string): object;
};

export function exactJson(text: string): unknown {
  return parse(text, (_, value, { source }) =>
    typeof value === "number" && String(value) !== source ? rawJSON(source) : value,
  );
}
