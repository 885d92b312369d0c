// Keeps some members of an object's canonical text, at any depth, without parsing their values.

import { nameIn } from "./members.ts";
import { endOfString, endOfValue } from "./walk.ts";

/** Which members of an object to keep: entirely, or what is selected below them. */
export interface Selection extends ReadonlyMap<string, Selection | "whole"> {}

/** The selection of these paths. A path below a member that is kept entirely adds nothing. */
export function selectionOf(paths: readonly (readonly string[])[]): Selection {
  const root: Selecting = new Map();
  for (const path of paths) select(root, path);
  return root;
}

interface Selecting extends Map<string, Selecting | "whole"> {}

function select(root: Selecting, path: readonly string[]): void {
  let parent = root;
  for (const name of path.slice(0, -1)) {
    const known = parent.get(name);
    if (known === "whole") return;
    const child: Selecting = known ?? new Map();
    if (known === undefined) parent.set(name, child);
    parent = child;
  }
  const last = path.at(-1);
  if (last !== undefined) parent.set(last, "whole");
}

/** What is selected of an object's text. A member that is no object is left out. */
export function selected(text: string, selection: Selection): string {
  const kept: string[] = [];
  keepSelected(text, 0, selection, kept);
  return kept.join("");
}

/** Adds to `kept` what is selected of the object at `start`; returns the position after it. */
function keepSelected(text: string, start: number, selection: Selection, kept: string[]): number {
  kept.push("{");
  let separator = "";
  let at = start + 1;
  while (text.charAt(at) !== "}") {
    const nameStart = text.charAt(at) === "," ? at + 1 : at;
    const valueStart = endOfString(text, nameStart) + 1;
    const part = selection.get(nameIn(text, nameStart, valueStart - 1));
    if (part === undefined || (part !== "whole" && text.charAt(valueStart) !== "{")) {
      at = endOfValue(text, valueStart);
      continue;
    }
    kept.push(separator, text.slice(nameStart, valueStart));
    separator = ",";
    at = part === "whole" ? keepWhole(text, valueStart, kept) : keepSelected(text, valueStart, part, kept);
  }
  kept.push("}");
  return at + 1;
}

function keepWhole(text: string, start: number, kept: string[]): number {
  const end = endOfValue(text, start);
  kept.push(text.slice(start, end));
  return end;
}
