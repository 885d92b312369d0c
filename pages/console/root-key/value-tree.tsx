// The tree of a root key's value, by the tree pattern of WAI-ARIA: one stop of the Tab key, arrows
// move and open, Enter and Space select.

import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { stepOf } from "./tree-keys.ts";
import { firstView, pathOf, type Row, rowsOf, type ValueRow, withMore, withOpen } from "./tree-rows.ts";
import type { ValuePath } from "./value-path.ts";

export interface ValueTreeProps {
  /** The root key's name, which its value has in the tree. */
  readonly name: string;
  /** Canonical JSON text. */
  readonly text: string;
  /** JSON Pointer of the chosen value. */
  readonly chosen: string;
  readonly onChoose: (path: ValuePath) => void;
}

export function ValueTree({ name, text, chosen, onChoose }: ValueTreeProps) {
  const [view, setView] = useState(firstView);
  const rows = useMemo(() => rowsOf(name, text, view), [name, text, view]);
  const { tree, current, moveTo, focusNext, onFocusIn } = useRowFocus(rows);
  const choose = (row: Row) => {
    if (row.type === "value") return onChoose(pathOf(row));
    setView(withMore(view, row.parent ?? ""));
    // The first of the new rows stands where this row stood.
    focusNext(indexOf(rows, row.id));
  };
  const toggle = (row: Row, isOpen: boolean) => setView(withOpen(view, row.id, isOpen));
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[current];
    if (row === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = stepOf(event.key, rows, current);
    if (step === undefined) return;
    event.preventDefault();
    if (step === "choose") choose(row);
    else if (typeof step === "number") moveTo(step);
    else toggle(row, step === "open");
  };
  const onClick = ({ target }: MouseEvent) => {
    if (!(target instanceof Element)) return;
    const index = Array.from(tree.current?.children ?? []).findIndex((each) => each.contains(target));
    const row = rows[index];
    if (row === undefined) return;
    moveTo(index);
    if (target.closest(".expander") !== null && row.type === "value") toggle(row, !row.isOpen);
    else choose(row);
  };
  return (
    <div
      ref={tree}
      role="tree"
      class="tree"
      aria-label={`Value of ${name}`}
      onFocusIn={onFocusIn}
      onKeyDown={onKeyDown}
      onClick={onClick}
    >
      {rows.map((row, index) => (
        <TreeRow key={row.id} row={row} isActive={index === current} isChosen={row.id === chosen} />
      ))}
    </div>
  );
}

/** One row is in the order of the Tab key: the one that had the focus last. */
function useRowFocus(rows: readonly Row[]) {
  const [active, setActive] = useState("");
  const tree = useRef<HTMLDivElement>(null);
  /** Gets the focus once the rows have changed. */
  const focusIndex = useRef<number>(undefined);
  const moveTo = (index: number): void => {
    const { children = [] } = tree.current ?? {};
    const row = children[index];
    if (row instanceof HTMLElement) row.focus();
  };
  useLayoutEffect(() => {
    if (focusIndex.current !== undefined) moveTo(focusIndex.current);
    focusIndex.current = undefined;
  }, [rows]);
  return {
    tree,
    // What had the focus may be gone or inside of what has been closed.
    current: Math.max(0, indexOf(rows, active)),
    moveTo,
    focusNext: (index: number): void => {
      focusIndex.current = index;
    },
    onFocusIn: ({ target }: FocusEvent): void => {
      if (target instanceof HTMLElement && target.dataset["row"] !== undefined) setActive(target.dataset["row"]);
    },
  };
}

function indexOf(rows: readonly Row[], id: string): number {
  return rows.findIndex((row) => row.id === id);
}

/** Characters of a string that are shown; the style sheet cuts them to the width that there is. */
const maxPreview = 200;

export interface TreeRowProps {
  readonly row: Row;
  readonly isActive: boolean;
  readonly isChosen: boolean;
}

export function TreeRow({ row, isActive, isChosen }: TreeRowProps) {
  const { level, position, siblings } = row;
  const isParent = row.type === "value" && row.children > 0;
  return (
    <div
      role="treeitem"
      data-row={row.id}
      class={row.type === "more" ? "row more" : "row"}
      tabIndex={isActive ? 0 : -1}
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={isChosen}
      {...(isParent && { "aria-expanded": row.isOpen })}
      style={{ "--level": String(level - 1) }}
    >
      <span class={isParent ? "expander" : "no-expander"} aria-hidden="true" />
      {row.type === "more" ? (
        `Show more (${row.hidden} left)`
      ) : (
        <span class="cell">
          <span class="json-name">{row.name === "" ? '""' : row.name}</span>{" "}
          <span class={`json-${row.kind}`}>{previewOf(row)}</span>
        </span>
      )}
    </div>
  );
}

function previewOf({ kind, text, children }: ValueRow): string {
  if (kind === "object") return children === 1 ? "1 value" : `${children} values`;
  if (kind === "array") return children === 1 ? "1 entry" : `${children} entries`;
  return text.length > maxPreview ? `${text.slice(0, maxPreview)}…` : text;
}
