// Decides, from a document's text, whether a write finds what it expects at its path (Expected in
// ports/documents.ts).

import { readAt } from "../../core/json/splice.ts";
import type { Expected } from "./ports/documents.ts";
import type { Path } from "./ports/refs.ts";

interface Changed {
  readonly outcome: "changed";
}

/** `spliced`, what a change made of `text`, unless only the expectation stands against it. */
export function unlessChanged<Spliced extends { readonly outcome: string }>(
  spliced: Spliced,
  text: string,
  path: Path,
  expected: Expected | undefined,
): Spliced | Changed {
  if (expected === undefined) return spliced;
  const isRefused = !("document" in spliced) && spliced.outcome !== "key_exists";
  return isRefused || isExpected(text, path, expected) ? spliced : { outcome: "changed" };
}

function isExpected(text: string, path: Path, expected: Expected): boolean {
  if (expected === "never") return false;
  const found = readAt(text, path);
  if (expected === "nothing") return found.outcome === "not_found";
  return found.outcome === "found" && found.text === expected.text;
}
