// Keeps some members of an object's canonical text, at any depth, without parsing their values: numbers and order stay as they are.

import { membersOf } from "./members.ts";

/** Which members of an object to keep: whole, or what is selected below them. */
export interface Selection extends ReadonlyMap<string, Selection | "whole"> {}

/** The selection of these paths; one that leads below a member that is kept whole adds nothing. */
export function selectionOf(paths: readonly (readonly string[])[]): Selection {
  const selection = new Map<string, Selection | "whole">();
  const below = new Map<string, (readonly string[])[]>();
  for (const [name, ...rest] of paths) {
    if (name === undefined) continue;
    if (rest.length === 0) selection.set(name, "whole");
    else below.set(name, [...(below.get(name) ?? []), rest]);
  }
  for (const [name, rest] of below) {
    if (!selection.has(name)) selection.set(name, selectionOf(rest));
  }
  return selection;
}

/** What is selected of an object's text; a member that is no object has nothing below it and is left out. */
export function selected(text: string, selection: Selection): string {
  const kept: string[] = [];
  for (const { name, start, valueStart, valueEnd } of membersOf(text)) {
    const part = selection.get(name);
    if (part === "whole") kept.push(text.slice(start, valueEnd));
    else if (part !== undefined && text.charAt(valueStart) === "{") {
      kept.push(text.slice(start, valueStart) + selected(text.slice(valueStart, valueEnd), part));
    }
  }
  return `{${kept.join(",")}}`;
}
