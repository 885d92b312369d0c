// Reads the elements of arrays in canonical JSON text without parsing them. Asked about anything but an array, it throws a
// TypeError: the caller's defect.

import { endOfValue } from "./walk.ts";

/** The texts of an array's elements, in its order. */
export function elementsOf(text: string): string[] {
  if (text.charAt(0) !== "[") throw new TypeError("Only an array has elements");
  const elements: string[] = [];
  if (text === "[]") return elements;
  for (let start = 1; start < text.length; ) {
    const end = endOfValue(text, start);
    elements.push(text.slice(start, end));
    start = end + 1;
  }
  return elements;
}
