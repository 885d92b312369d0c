// A value as a list shows it, for people who don't read JSON.

import { ExactNumber } from "./exact-number.ts";

/** Characters of a value in a cell; the object's own page shows the rest. */
const maxLength = 80;

export function CellValue({ value }: { readonly value: unknown }) {
  if (value === undefined) return null;
  if (value === null) return <span class="quiet">none</span>;
  if (isScalar(value)) return <span>{shortened(wordOf(value))}</span>;
  if (!Array.isArray(value)) return <code>{shortened(JSON.stringify(value))}</code>;
  if (value.every(isScalar)) return <span>{shortened(value.map(wordOf).join(", "))}</span>;
  return <span class="quiet">{value.length === 1 ? "1 entry" : `${value.length} entries`}</span>;
}

/** JSON text of what a person edits in a cell. */
export function cellText(value: unknown): string | undefined {
  return value instanceof ExactNumber ? value.text : JSON.stringify(value);
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value instanceof ExactNumber;
}

function wordOf(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  return typeof value === "boolean" ? { true: "yes", false: "no" }[`${value}`] : String(value);
}

function shortened(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
