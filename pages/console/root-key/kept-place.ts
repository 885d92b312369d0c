// Checks whether a path still leads to the value that a person has seen there. Elements of arrays
// have no names: when somebody removes one, or inserts one before it, another one takes its place.
// Takes canonical JSON text.

import { elementsOf, kindOf, valueAt } from "../../../core/json/members.ts";
import type { ValuePath } from "./value-path.ts";

export interface SeenValue {
  readonly path: ValuePath;
  /** The root key's entire value as it was last read, */
  readonly whole: string;
  /** and the value at the path, which may have been read later. */
  readonly value: string;
}

/** `now` = the stored value. True only where the arrays around the value are unchanged. */
export function hasKeptPlace({ path, whole, value }: SeenValue, now: string): boolean {
  let [before, after]: (string | undefined)[] = [whole, now];
  let isInArray = false;
  for (const name of path) {
    if (before === undefined || after === undefined) break;
    if (kindOf(before) === "array") {
      if (!areSameBut(Number(name), before, after)) return false;
      isInArray = true;
    }
    [before, after] = [childOf(before, name), childOf(after, name)];
  }
  return !isInArray || before === value;
}

export function leadsThroughArray(path: ValuePath, whole: string): boolean {
  let at: string | undefined = whole;
  for (const name of path) {
    if (at === undefined) return false;
    if (kindOf(at) === "array") return true;
    at = childOf(at, name);
  }
  return false;
}

function areSameBut(index: number, before: string, after: string): boolean {
  if (kindOf(after) !== "array") return false;
  const [seen, stored] = [elementsOf(before), elementsOf(after)];
  return seen.length === stored.length && seen.every((element, at) => at === index || element === stored[at]);
}

function childOf(text: string, name: string): string | undefined {
  if (kindOf(text) === "array") return elementsOf(text)[Number(name)];
  return kindOf(text) === "object" ? valueAt(text, [name]) : undefined;
}
