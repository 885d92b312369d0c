// Turns JSON text into the visible rows of a tree, with what is open and how many children are
// shown. Values stay text, so that a number is shown as it is stored. Takes the canonical text that
// the server sends.

import { childPointer, segmentsOf } from "../../../core/json/json-pointer.ts";
import { elementsOf, type JsonKind, kindOf, membersOf } from "../../../core/json/members.ts";
import type { ValuePath } from "./value-path.ts";

/** What a person has opened, by JSON Pointer. */
export interface TreeView {
  readonly open: ReadonlySet<string>;
  /** How many children are shown, where that isn't `childrenAtOnce`. */
  readonly shown: ReadonlyMap<string, number>;
}

interface Placed {
  readonly id: string;
  /** From 1. */
  readonly level: number;
  /** Among its siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  /** Of the row's parent; undefined at the top. */
  readonly parent: string | undefined;
}

export interface ValueRow extends Placed {
  readonly type: "value";
  readonly name: string;
  readonly kind: JsonKind;
  /** JSON text; of objects and arrays as well. */
  readonly text: string;
  /** Members or elements; 0 of a scalar. */
  readonly children: number;
  readonly isOpen: boolean;
}

/** Stands after the children that are shown, for those that are not. */
export interface MoreRow extends Placed {
  readonly type: "more";
  readonly hidden: number;
}

export type Row = ValueRow | MoreRow;

export const childrenAtOnce = 200;

/** What is open at first: the value itself. */
export const firstView: TreeView = { open: new Set([""]), shown: new Map() };

export function rowsOf(name: string, text: string, view: TreeView): readonly Row[] {
  const rows: Row[] = [];
  addRows(rows, view, { id: "", name, text }, { level: 1, position: 1, siblings: 1, parent: undefined });
  return rows;
}

interface Child {
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

function addRows(rows: Row[], view: TreeView, { id, name, text }: Child, layout: Omit<Placed, "id">): void {
  const children = childrenOf(id, text);
  const isOpen = children.length > 0 && view.open.has(id);
  const kind = kindOf(text);
  rows.push({ type: "value", id, ...layout, name, kind, text, children: children.length, isOpen });
  if (!isOpen) return;
  const shown = view.shown.get(id) ?? childrenAtOnce;
  const hidden = Math.max(0, children.length - shown);
  const siblings = children.length - hidden + (hidden > 0 ? 1 : 0);
  const below = { level: layout.level + 1, siblings, parent: id };
  for (const [index, child] of children.slice(0, shown).entries()) {
    addRows(rows, view, child, { ...below, position: index + 1 });
  }
  if (hidden > 0) rows.push({ type: "more", id: `more ${id}`, ...below, position: siblings, hidden });
}

function childrenOf(id: string, text: string): readonly Child[] {
  const kind = kindOf(text);
  if (kind === "array") {
    return elementsOf(text).map((element, index) => childOf(id, String(index), element));
  }
  if (kind !== "object") return [];
  return membersOf(text).map(({ name, valueStart, valueEnd }) => childOf(id, name, text.slice(valueStart, valueEnd)));
}

function childOf(parent: string, name: string, text: string): Child {
  return { id: childPointer(parent, name), name, text };
}

/** The text of the value at a path; undefined where there is none. */
export function textAt(text: string, path: ValuePath): string | undefined {
  return path.reduce<string | undefined>(
    (at, name) => (at === undefined ? undefined : childrenOf("", at).find((child) => child.name === name)?.text),
    text,
  );
}

export function pathOf(row: Row): ValuePath {
  return segmentsOf(row.id);
}

export function withOpen(view: TreeView, id: string, isOpen: boolean): TreeView {
  const open = new Set(view.open);
  if (isOpen) open.add(id);
  else open.delete(id);
  return { ...view, open };
}

export function withMore(view: TreeView, id: string): TreeView {
  const shown = (view.shown.get(id) ?? childrenAtOnce) + childrenAtOnce;
  return { ...view, shown: new Map(view.shown).set(id, shown) };
}
