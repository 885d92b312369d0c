// What a key does in a tree, by the tree pattern of WAI-ARIA
// (https://www.w3.org/WAI/ARIA/apg/patterns/treeview/).

import type { Row } from "./tree-rows.ts";

/** A number is the index of the row that gets the focus. */
export type TreeStep = number | "open" | "close" | "choose";

/** Undefined: the key isn't the tree's. */
export function stepOf(key: string, rows: readonly Row[], current: number): TreeStep | undefined {
  switch (key) {
    case "ArrowDown":
      return Math.min(current + 1, rows.length - 1);
    case "ArrowUp":
      return Math.max(current - 1, 0);
    case "ArrowRight":
      return stepInward(rows, current);
    case "ArrowLeft":
      return stepOutward(rows, current);
    case "Home":
      return 0;
    case "End":
      return rows.length - 1;
    case "Enter":
    case " ":
      return "choose";
    default:
      return key.length === 1 ? nextNamed(key, rows, current) : undefined;
  }
}

function stepInward(rows: readonly Row[], current: number): TreeStep {
  const row = rows[current];
  if (row?.type !== "value" || row.children === 0) return current;
  return row.isOpen ? current + 1 : "open";
}

function stepOutward(rows: readonly Row[], current: number): TreeStep {
  const row = rows[current];
  if (row?.type === "value" && row.isOpen) return "close";
  const parent = rows.findIndex(({ id }) => id === row?.parent);
  return parent < 0 ? current : parent;
}

/** The next row whose name begins with the letter, from the top again after the last one. */
function nextNamed(letter: string, rows: readonly Row[], current: number): number {
  const start = letter.toLowerCase();
  const isNamed = (row: Row) => row.type === "value" && row.name.toLowerCase().startsWith(start);
  const next = rows.findIndex((row, index) => index > current && isNamed(row));
  if (next >= 0) return next;
  const first = rows.findIndex(isNamed);
  return first < 0 ? current : first;
}
