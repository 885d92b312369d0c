// What differs between what somebody else has stored and what a person has entered, member by
// member, and what is stored once the person's changes are made to theirs. Values stay JSON text,
// so that every digit is shown and kept.

import { canonicalJson } from "../../../core/json/canonical.ts";
import { applyJsonPatch } from "../../../core/json/json-patch.ts";
import { childPointer, segmentsOf } from "../../../core/json/json-pointer.ts";
import { elementsOf, kindOf, membersIn, valuesOf } from "../../../core/json/members.ts";
import { maxStoredDepth } from "../editor/pretty.ts";

export interface Difference {
  /** JSON Pointer (RFC 6901); empty = the entire value. */
  readonly pointer: string;
  /** Canonical JSON text; undefined: there is none. */
  readonly theirs: string | undefined;
  readonly mine: string | undefined;
  readonly changedBy: "them" | "me" | "both";
}

export interface Versions {
  /** What both were made of. */
  readonly before: string;
  readonly theirs: string;
  readonly mine: string;
}

/** Undefined where one of the texts isn't JSON. */
export function differencesOf({ before, theirs, mine }: Versions): readonly Difference[] | undefined {
  const texts = [before, theirs, mine].map((text) => canonicalJson(text, maxStoredDepth));
  const [from, there, here] = texts.map((read) => (read.ok ? read.json.text : undefined));
  if (there === undefined || here === undefined) return undefined;
  const found: Difference[] = [];
  compare(found, "", { before: from, theirs: there, mine: here });
  return found;
}

/** Theirs with the changes of mine. Undefined where one of the texts isn't JSON. */
export function mergeMine(versions: Versions): string | undefined {
  const mine = differencesOf(versions)?.filter(({ changedBy: who }) => who !== "them");
  const read = canonicalJson(versions.theirs, maxStoredDepth);
  if (mine === undefined || !read.ok) return undefined;
  const operations = mine.map(({ pointer, theirs, mine: value }) => {
    const path = segmentsOf(pointer);
    if (value === undefined) return { op: "remove", path } as const;
    return { op: theirs === undefined ? "add" : "replace", path, value } as const;
  });
  return applyJsonPatch(read.json.text, operations);
}

type Texts = { readonly [Version in keyof Versions]: string | undefined };

function compare(found: Difference[], pointer: string, { before, theirs, mine }: Texts): void {
  if (theirs === mine) return;
  if (theirs === undefined || mine === undefined || !areAlike(before, theirs, mine)) {
    found.push({ pointer, theirs, mine, changedBy: changedBy({ before, theirs, mine }) });
    return;
  }
  const [inTheirs, inMine] = [childrenOf(theirs), childrenOf(mine)];
  const inBefore = before !== undefined && kindOf(before) === kindOf(mine) ? childrenOf(before) : none;
  for (const name of new Set([...inTheirs.keys(), ...inMine.keys()])) {
    const texts = { before: inBefore.get(name), theirs: inTheirs.get(name), mine: inMine.get(name) };
    compare(found, childPointer(pointer, name), texts);
  }
}

function changedBy({ before, theirs, mine }: Texts): Difference["changedBy"] {
  if (mine === before) return "them";
  return theirs === before ? "me" : "both";
}

type Children = ReadonlyMap<string, string>;
const none: Children = new Map();

/** Elements can be compared one by one only where none was inserted or removed. */
function areAlike(before: string | undefined, theirs: string, mine: string): boolean {
  const kind = kindOf(theirs);
  if (kind !== kindOf(mine)) return false;
  if (kind !== "array") return kind === "object";
  const sizes = [before, theirs, mine].map((text) => text !== undefined && kindOf(text) === kind && membersIn(text));
  return new Set(sizes).size === 1;
}

/** Texts of members by their names, and of elements by their indices. */
function childrenOf(text: string | undefined): Children {
  const kind = text === undefined ? undefined : kindOf(text);
  if (text === undefined || (kind !== "object" && kind !== "array")) return none;
  if (kind === "array") return new Map(elementsOf(text).map((element, index) => [String(index), element]));
  return valuesOf(text);
}
