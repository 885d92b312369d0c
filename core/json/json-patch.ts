// Applies the operations of a JSON Patch to canonical JSON text, all of them or none. Refuses with
// PatchRefusal what does not match the text, and what takes too much work.

import { compareNumbers, sumOfNumbers } from "./decimal.ts";
import { EditableArray, type EditableObject, type EditableValue, openedContainer, textOf } from "./editable.ts";
import { kindOf, membersOf } from "./members.ts";
import { elementCost, incrementCost, memberCost, PatchRefusal, PatchWork } from "./patch-refusal.ts";
import type { Increment, Operation, Segments } from "./read-json-patch.ts";
import { endOfValue } from "./walk.ts";

/** `text` as the operations leave it, one after the other. */
export function applyJsonPatch(text: string, operations: readonly Operation[]): string {
  const patching = new Patching(text);
  operations.forEach((operation, at) => {
    patching.apply(operation, at);
  });
  return patching.text();
}

class Patching {
  readonly #root: EditableValue;
  readonly #work = new PatchWork();
  /** Index of the operation that is being applied, for refusals. */
  #at = 0;

  constructor(text: string) {
    this.#root = { content: text };
  }

  text(): string {
    return textOf(this.#root);
  }

  apply(operation: Operation, at: number): void {
    this.#at = at;
    switch (operation.op) {
      case "add":
        this.#add(operation.path, operation.value);
        break;
      case "replace":
        this.#find(operation.path, "path").content = operation.value;
        break;
      case "remove":
        this.#take(operation.path, "path");
        break;
      case "move":
        this.#move(operation.from, operation.path);
        break;
      case "copy":
        this.#add(operation.path, this.#read(operation.from, "from"));
        break;
      case "test":
        this.#test(operation.path, operation.value);
        break;
      case "increment":
        this.#increment(operation);
    }
  }

  #test(path: Segments, value: string): void {
    const found = this.#read(path, "path");
    this.#work.spend(value.length);
    if (!sameValue(found, value, this.#work))
      throw this.#conflict("The test failed: the stored value is different", "value");
  }

  #increment({ path, by, min, max }: Increment): void {
    const found = this.#find(path, "path");
    const number = textOf(found);
    this.#work.spend(incrementCost);
    if (kindOf(number) !== "number") throw this.#conflict("The value is no number", "path");
    const sum = sumOfNumbers(number, by);
    if (sum === undefined) throw this.#outOfBounds(`${number} plus ${by} is beyond what is stored`, "by");
    const refused = (bound: string, member: "min" | "max") =>
      this.#outOfBounds(`${number} plus ${by} would be ${sum}, and \`${member}\` is ${bound}`, member);
    if (min !== undefined && compareNumbers(sum, min) < 0) throw refused(min, "min");
    if (max !== undefined && compareNumbers(sum, max) > 0) throw refused(max, "max");
    found.content = sum;
  }

  #move(from: Segments, path: Segments): void {
    // Also for the whole value, which can't be removed before it is put back.
    if (from.length === path.length && from.every((segment, level) => path[level] === segment)) {
      this.#find(from, "from");
      return;
    }
    const text = this.#read(from, "from");
    this.#take(from, "from");
    // As text: what is taken apart is joined by recursion, and must not nest deeper than pointers
    // reach.
    this.#add(path, text);
  }

  #read(path: Segments, member: "path" | "from"): string {
    const found = this.#find(path, member);
    const text = textOf(found);
    this.#work.spend(text.length);
    // The joined text is kept: otherwise each read would join it again.
    found.content = text;
    return text;
  }

  #add(path: Segments, value: string): void {
    const last = path.at(-1);
    if (last === undefined) {
      this.#root.content = value;
      return;
    }
    const parent = this.#parent(path, "path");
    if (!(parent instanceof EditableArray)) {
      parent.set(last, { content: value });
      return;
    }
    const index = last === "-" ? parent.length : this.#index(last, "path", ", or - to append");
    if (index > parent.length) throw this.#conflict(`The array's length is ${parent.length}`, "path");
    parent.insert(index, { content: value });
  }

  #take(path: Segments, member: "path" | "from"): void {
    const last = path.at(-1);
    if (last === undefined) throw this.#conflict("The whole value can't be removed; replace it", member);
    this.#find(path, member);
    const parent = this.#parent(path, member);
    if (parent instanceof EditableArray) parent.remove(Number(last));
    else parent.delete(last);
  }

  #parent(path: Segments, member: "path" | "from"): EditableObject | EditableArray {
    const parent = openedContainer(this.#find(path.slice(0, -1), member), this.#work);
    if (parent === undefined) throw this.#nowhere(member);
    return parent;
  }

  #find(path: Segments, member: "path" | "from"): EditableValue {
    let found: EditableValue | undefined = this.#root;
    for (const segment of path) {
      const container: EditableObject | EditableArray | undefined = openedContainer(found, this.#work);
      if (container === undefined) throw this.#nowhere(member);
      found = container instanceof EditableArray ? container.at(this.#index(segment, member)) : container.get(segment);
      if (found === undefined) throw this.#nowhere(member);
    }
    return found;
  }

  /** `further`: what the segment may be besides an index. */
  #index(segment: string, member: "path" | "from", further = ""): number {
    if (/^(?:0|[1-9][0-9]*)$/.test(segment)) return Number(segment);
    const why = segment === "-" ? "`-` is the end of the array, where no element exists" : "The parent is an array";
    throw this.#conflict(`${why}: use an index such as 0${further}`, member);
  }

  #nowhere(member: "path" | "from"): PatchRefusal {
    return this.#conflict(`\`${member}\` names nothing that exists`, member);
  }

  #outOfBounds(message: string, member: "by" | "min" | "max"): PatchRefusal {
    return new PatchRefusal("increment_out_of_bounds", message, `/${this.#at}/${member}`);
  }

  #conflict(message: string, member: "path" | "from" | "value"): PatchRefusal {
    return new PatchRefusal("patch_conflict", message, `/${this.#at}/${member}`);
  }
}

/** Spends `work` for what it reads. */
function sameValue(left: string, right: string, work: PatchWork): boolean {
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

/** Exact: an integer beyond 2^53 differs from the doubles around it. */
function sameNumber(left: string, right: string): boolean {
  const [one, other] = [Number(left), Number(right)];
  if (one !== other) return false;
  return Number.isInteger(one) ? exactInteger(left, one) === exactInteger(right, other) : true;
}

function exactInteger(text: string, value: number): bigint {
  return /[.e]/.test(text) ? BigInt(value) : BigInt(text);
}
