// One row of the tree of a root key's value: a value with its name, or the way to more of them.

import type { Row, ValueRow } from "./tree-rows.ts";

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
  if (kind === "object") return `{ ${counted(children, "member")} }`;
  if (kind === "array") return `[ ${counted(children, "element")} ]`;
  return text.length > maxPreview ? `${text.slice(0, maxPreview)}…` : text;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
