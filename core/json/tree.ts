// A canonical JSON text that is changed in many places: containers are taken apart only where a change goes into them, and all else
// stays the very text that it was, so that numbers and order stay as they are.

import { elementsOf } from "./elements.ts";
import { membersOf } from "./members.ts";
import type { PatchWork } from "./patch-refusal.ts";

/** What is at one place: a text as long as nothing inside was changed. */
export interface Slot {
  value: string | Map<string, Slot> | Slot[];
}

/** What a child costs in memory, in characters. */
const childCost = 16;

/** The slot's value, taken apart one level when it is a container; the text of a scalar otherwise. */
export function opened(slot: Slot, work: PatchWork): Slot["value"] {
  if (typeof slot.value !== "string") return slot.value;
  const first = slot.value.charAt(0);
  if (first === "{") slot.value = membersIn(slot.value, work);
  else if (first === "[") slot.value = elementsIn(slot.value, work);
  return slot.value;
}

function membersIn(text: string, work: PatchWork): Map<string, Slot> {
  work.spend(text.length);
  const members = membersOf(text);
  work.spend(members.length * childCost);
  return new Map(members.map(({ name, valueStart, valueEnd }) => [name, { value: text.slice(valueStart, valueEnd) }]));
}

function elementsIn(text: string, work: PatchWork): Slot[] {
  work.spend(text.length);
  const elements = elementsOf(text);
  work.spend(elements.length * childCost);
  return elements.map((value) => ({ value }));
}

/** The canonical text of what is at a slot now. */
export function textOf({ value }: Slot): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  return `{${Array.from(value, ([name, slot]) => `${JSON.stringify(name)}:${textOf(slot)}`).join(",")}}`;
}
