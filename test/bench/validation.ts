// Prints what compiling a schema and validating a body of 1 MiB cost, for what people send and for the worst that was found:
// `node test/bench/validation.ts`. CPU time of this process, so that a busy machine changes little.

import type { JsonObject } from "../../core/config/types.ts";
import { compileSchema } from "../../core/schema/compile-schema.ts";

const megabyte = 1024 * 1024;

interface Shape {
  readonly schema: unknown;
  readonly text: string;
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function arrayOf(item: string): string {
  return `{"v":[${times(Math.floor((megabyte - 8) / (item.length + 1)), () => item).join()}]}`;
}

function members(value: string): string {
  const count = Math.floor(megabyte / (value.length + 11));
  return `{${times(count, (index) => `"k${String(index).padStart(6, "0")}":${value}`).join()}}`;
}

const inMember = (schema: unknown): unknown => ({ properties: { v: schema } });
const scrambled = times(megabyte, (index) => ((index * 7919) % 13 < 6 ? "a" : "b")).join("");

const book = {
  properties: {
    isbn: { type: "string", pattern: "^[0-9]{9}[0-9X]$" },
    title: { type: "string", minLength: 1, maxLength: 200 },
    price: { type: "number", minimum: 0, multipleOf: 0.01 },
    mail: { type: "string", format: "email" },
    published: { type: "string", format: "date-time" },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true, maxItems: 20 },
  },
  required: ["isbn", "title"],
  additionalProperties: false,
};
const bookText = JSON.stringify({
  isbn: "123456789X",
  title: "A book about things",
  price: 19.99,
  mail: "a@example.com",
  published: "2024-05-06T07:08:09Z",
  tags: ["a", "b"],
});
const deep = (inner: string): string => `{"v":${'{"x":"a","c":'.repeat(60)}${inner}${"}".repeat(61)}`;

const shapes: Readonly<Record<string, Shape>> = {
  "books, all valid": { schema: inMember({ items: book }), text: arrayOf(bookText) },
  "integers, all valid": { schema: inMember({ items: { type: "integer", minimum: 0 } }), text: arrayOf("7") },
  "one text by a pattern, valid": {
    schema: inMember({ pattern: "^data:image/(png|jpeg);base64,[A-Za-z0-9+/]+=*$" }),
    text: `{"v":"data:image/png;base64,${"aB3+".repeat(megabyte / 4)}"}`,
  },
  "items, all invalid": { schema: inMember({ items: { type: "string" } }), text: arrayOf("1") },
  "members, all undeclared": { schema: { additionalProperties: false }, text: members("1") },
  "480 alternatives for each item": {
    schema: inMember({ items: { anyOf: times(480, (index) => ({ const: `${index}` })) } }),
    text: arrayOf("1"),
  },
  "480 lengths of one text": {
    schema: inMember({ anyOf: times(480, (index) => ({ maxLength: index })) }),
    text: `{"v":"${"é".repeat(megabyte / 2)}"}`,
  },
  "480 properties of empty objects": {
    schema: inMember({
      items: { properties: Object.fromEntries(times(480, (index) => [`p${index}`, { type: "null" }])) },
    }),
    text: arrayOf("{}"),
  },
  "contains asked 200 times": {
    schema: inMember({ allOf: times(200, (index) => ({ contains: { const: `${index}` } })) }),
    text: arrayOf("1"),
  },
  "a tree that tries every branch twice": {
    schema: {
      $defs: { n: { properties: { c: { anyOf: [{ $ref: "#/$defs/n" }, { $ref: "#/$defs/n" }] } }, required: ["y"] } },
      properties: { v: { $ref: "#/$defs/n" } },
    },
    text: deep("{}"),
  },
  "unevaluated members at every level": {
    schema: {
      $defs: {
        n: {
          anyOf: [{ properties: { c: { $ref: "#/$defs/n" } } }, { properties: { x: { type: "string" } } }],
          unevaluatedProperties: false,
        },
      },
      properties: { v: { $ref: "#/$defs/n" } },
    },
    text: deep("{}"),
  },
  "1,000 large unique items": {
    schema: inMember({ uniqueItems: true, maxItems: 1000 }),
    text: `{"v":[${times(1000, (index) => `[${times(500, () => "1").join()},${index}]`).join()}]}`,
  },
  "pairs of large integers, unique": {
    schema: inMember({ items: { uniqueItems: true, maxItems: 2 } }),
    text: arrayOf("[9007199254740993,9007199254740992]"),
  },
  "hostile patterns": {
    schema: inMember({ allOf: times(19, (index) => ({ pattern: `[ab]*a[ab]{${900 + index}}c$` })) }),
    text: `{"v":"${scrambled}c"}`,
  },
};

function milliseconds<T>(work: () => T): readonly [number, T] {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, result];
}

console.log("| shape | compile ms | first ms | later ms | outcome |\n|---|---|---|---|---|");
for (const [name, { schema, text }] of Object.entries(shapes)) {
  const [compile, result] = milliseconds(() => compileSchema(schema as JsonObject));
  if (!result.ok) throw new Error(`${name}: ${result.problems[0]?.message}`);
  const value: unknown = JSON.parse(text);
  const { validate } = result.schema;
  const [first, failures] = milliseconds(() => validate(value, text));
  const later = Math.min(...times(3, () => milliseconds(() => validate(value, text))[0]));
  const ended = failures[0]?.keyword === "$schema";
  const outcome = ended ? "too much work" : `${failures.length} failures`;
  console.log(`| ${name} | ${compile.toFixed(0)} | ${first.toFixed(0)} | ${later.toFixed(0)} | ${outcome} |`);
}
