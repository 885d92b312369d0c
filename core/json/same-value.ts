// Tells whether two canonical JSON texts are the same value: numbers by what they are worth, however they are written, members in any
// order, elements in theirs.

import { elementsOf } from "./elements.ts";
import { kindOf, membersOf } from "./members.ts";
import type { PatchWork } from "./patch-refusal.ts";

/** Spends `work` for what it reads. */
export function sameValue(left: string, right: string, work: PatchWork): boolean {
  if (left === right) return true;
  const kind = kindOf(left);
  if (kind !== kindOf(right)) return false;
  if (kind === "number") return sameNumber(left, right);
  if (kind === "object") return sameMembers(left, right, work);
  return kind === "array" && sameElements(left, right, work);
}

function sameMembers(left: string, right: string, work: PatchWork): boolean {
  work.spend(left.length + right.length);
  const members = membersOf(left);
  const others = new Map(membersOf(right).map((member) => [member.name, member] as const));
  if (members.length !== others.size) return false;
  return members.every(({ name, valueStart, valueEnd }) => {
    const other = others.get(name);
    if (other === undefined) return false;
    return sameValue(left.slice(valueStart, valueEnd), right.slice(other.valueStart, other.valueEnd), work);
  });
}

function sameElements(left: string, right: string, work: PatchWork): boolean {
  work.spend(left.length + right.length);
  const elements = elementsOf(left);
  const others = elementsOf(right);
  return (
    elements.length === others.length && elements.every((element, at) => sameValue(element, others[at] ?? "", work))
  );
}

/** Exact: an integer beyond 2^53 is told from the doubles around it. */
function sameNumber(left: string, right: string): boolean {
  const [one, other] = [Number(left), Number(right)];
  if (one !== other) return false;
  return Number.isInteger(one) ? exactInteger(left, one) === exactInteger(right, other) : true;
}

function exactInteger(text: string, value: number): bigint {
  return /[.e]/.test(text) ? BigInt(value) : BigInt(text);
}
