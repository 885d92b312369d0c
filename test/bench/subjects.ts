// What the benchmark stores and sends.

import type { JsonObject } from "../../core/config/types.ts";

export const bookSchema: JsonObject = {
  type: "object",
  required: ["title", "price"],
  additionalProperties: false,
  properties: {
    title: { type: "string", minLength: 1, maxLength: 200 },
    author: { type: "string", maxLength: 200 },
    price: { type: "number", minimum: 0 },
    stock: { type: "integer", minimum: 0 },
    tags: { type: "array", items: { type: "string" }, maxItems: 20 },
    published: { type: "string", format: "date" },
    blurb: { type: "string", maxLength: 2000 },
  },
};

/** Those that the benchmarks sort and filter by. */
export const bookIndexes: readonly string[] = ["title", "price", "stock"];

/** Some 600 bytes, as a typical record has. */
export function bookText(index: number): string {
  return JSON.stringify({
    title: `Book ${String((index * 7919) % 1_000_003).padStart(7, "0")}`,
    author: `Author ${index % 97}`,
    price: (index % 5000) + 1,
    stock: index % 13,
    tags: ["fiction", "paperback", `shelf-${index % 31}`],
    published: "2024-05-17",
    blurb: "A story that is told in four hundred characters, more or less, as shops want it. ".repeat(5).trim(),
  });
}

/** Less than `bytes` bytes. */
export function catalogueText(bytes: number): string {
  const books = Array.from({ length: Math.floor(bytes / 700) }, (_, index) => bookText(index));
  return `{"edition":1,"books":[${books.join(",")}]}`;
}
