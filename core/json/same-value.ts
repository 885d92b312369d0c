// Tells whether two canonical JSON texts are the same value: numbers by what they are worth, however they are written, members in any
// order, elements in theirs.

import { kindOf, membersOf } from "./members.ts";
import { elementCost, memberCost, type PatchWork } from "./patch-refusal.ts";
import { endOfValue } from "./walk.ts";

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
  const list = membersOf(right);
  work.spend((members.length + list.length) * memberCost);
  if (members.length !== list.length) return false;
  const others = new Map(list.map((member) => [member.name, member] as const));
  return members.every(({ name, valueStart, valueEnd }) => {
    const other = others.get(name);
    if (other === undefined) return false;
    return sameValue(left.slice(valueStart, valueEnd), right.slice(other.valueStart, other.valueEnd), work);
  });
}

/** Side by side, as far as they are the same. */
function sameElements(left: string, right: string, work: PatchWork): boolean {
  const [leftLast, rightLast] = [left.length - 1, right.length - 1];
  let [one, other] = [1, 1];
  while (one < leftLast && other < rightLast) {
    const [oneEnd, otherEnd] = [endOfValue(left, one), endOfValue(right, other)];
    work.spend(oneEnd - one + otherEnd - other + elementCost);
    if (!sameValue(left.slice(one, oneEnd), right.slice(other, otherEnd), work)) return false;
    [one, other] = [oneEnd + 1, otherEnd + 1];
  }
  return one >= leftLast && other >= rightLast;
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
