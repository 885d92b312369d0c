// JSON Patch (RFC 6902) on canonical JSON text: reads a patch, and applies all of its operations or
// none. Refuses with PatchRefusal what is not a patch, what does not match the text, and what takes
// too much work.

import { EditableArray, type EditableObject, type EditableValue, openedContainer, textOf } from "./editable.ts";
import { segmentsOf } from "./json-pointer.ts";
import { elementsOf, kindOf, membersOf, valueAt } from "./members.ts";
import { elementCost, memberCost, PatchRefusal, PatchWork } from "./patch-refusal.ts";
import { endOfValue } from "./walk.ts";

/** Unescaped segments of a JSON Pointer. */
export type Segments = readonly string[];

export type Operation =
  | { readonly op: "add" | "replace" | "test"; readonly path: Segments; readonly value: string }
  | { readonly op: "move" | "copy"; readonly path: Segments; readonly from: Segments }
  | { readonly op: "remove"; readonly path: Segments };

export const maxOperations = 1_000;
/** Stored values nest 64 levels; a longer pointer can lead nowhere. */
const maxSegments = 65;

/** The operations of a patch's canonical text. */
export function readJsonPatch(text: string): readonly Operation[] {
  if (kindOf(text) !== "array") throw invalid("A JSON Patch must be an array of operations");
  const elements = elementsOf(text);
  if (elements.length > maxOperations) {
    throw new PatchRefusal(
      "patch_too_large",
      `A JSON Patch may have at most ${maxOperations} operations; send it in parts`,
    );
  }
  return elements.map(readOperation);
}

function readOperation(text: string, at: number): Operation {
  if (kindOf(text) !== "object") throw invalid("An operation must be an object", `/${at}`);
  const op = stringMember(text, "op", at);
  const path = pointerMember(text, "path", at);
  switch (op) {
    case "remove":
      return { op, path };
    case "add":
    case "replace":
    case "test": {
      const value = valueAt(text, ["value"]);
      if (value === undefined) throw invalid(`${op} needs \`value\``, `/${at}`);
      return { op, path, value };
    }
    case "move":
    case "copy": {
      const from = pointerMember(text, "from", at);
      if (op === "move" && isBelow(path, from)) throw invalid("A value can't be moved into itself", `/${at}/path`);
      return { op, path, from };
    }
    default:
      throw invalid("`op` must be add, remove, replace, move, copy or test", `/${at}/op`);
  }
}

function stringMember(text: string, name: string, at: number): string {
  const value = valueAt(text, [name]);
  if (value === undefined) throw invalid(`An operation needs \`${name}\``, `/${at}`);
  if (kindOf(value) !== "string") throw invalid(`\`${name}\` is a string`, `/${at}/${name}`);
  return JSON.parse(value) as string;
}

function pointerMember(text: string, name: string, at: number): Segments {
  const pointer = stringMember(text, name, at);
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) {
    throw invalid(`\`${name}\` is a JSON Pointer: empty, or /a/b with ~1 for / and ~0 for ~`, `/${at}/${name}`);
  }
  const segments = segmentsOf(pointer, maxSegments + 1);
  if (segments.length > maxSegments) {
    throw invalid(`\`${name}\` is longer than values are deep`, `/${at}/${name}`);
  }
  return segments;
}

function isBelow(path: Segments, ancestor: Segments): boolean {
  return path.length > ancestor.length && ancestor.every((segment, level) => path[level] === segment);
}

function invalid(message: string, pointer = ""): PatchRefusal {
  return new PatchRefusal("invalid_patch", message, pointer);
}

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
    }
  }

  #test(path: Segments, value: string): void {
    const found = this.#read(path, "path");
    this.#work.spend(value.length);
    if (!sameValue(found, value, this.#work))
      throw this.#conflict("The test failed: the stored value is different", "value");
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
