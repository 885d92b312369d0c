// One page of objects as a table. A row is a link to its object; while cells are edited, a click on
// one opens it in its place.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useConsole } from "../console-context.ts";
import type { Resource } from "../description.ts";
import { fits } from "../form/form-text.ts";
import { isInScope } from "../permitted.ts";
import { fragmentOf } from "../route.ts";
import { CellEditor } from "./cell-editor.tsx";
import { CellValue, cellText } from "./cell-value.tsx";
import { type Column, columnsOf, isNumeric, type ListedObject, leadOf, valueIn } from "./columns.ts";
import { nextSort } from "./list-query.ts";
import { shortId } from "./names.ts";
import { timeOf } from "./time-of.ts";

export interface ObjectTableProps {
  readonly resource: Resource;
  readonly listed: readonly ListedObject[];
  readonly sort: string | undefined;
  readonly isEditing: boolean;
  readonly onSort: (sort: string | undefined) => void;
  readonly onStored: (listed: ListedObject) => void;
  /** Called whenever a cell is opened while none is, or the last one is closed. */
  readonly onHold: (isHeld: boolean) => void;
}

export function ObjectTable(props: ObjectTableProps) {
  const { resource, listed, sort, isEditing, onSort, onHold } = props;
  const { signIn } = useConsole();
  const items = listed.map(({ item }) => item);
  // They stay while values are edited: the table would move away under the person's hands.
  const { columns, lead } = useMemo(() => {
    const shown = columnsOf(resource.fields, items);
    return { columns: shown, lead: leadOf(shown, items) };
  }, [resource.fields, items.map(({ id }) => id).join(" ")]);
  /** Ids of the cells that are edited: one that was left is saved, and may have been refused. */
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const isHeld = open.size > 0;
  useEffect(() => {
    if (isHeld) onHold(true);
    return () => {
      if (isHeld) onHold(false);
    };
  }, [isHeld]);
  const table = useKeptFocus(listed);
  return (
    <Sideways>
      <table ref={table} class={isEditing ? "edited" : "linked"}>
        <thead>
          <tr>
            {lead === undefined && <th scope="col">id</th>}
            {columns.map((column) => (
              <Heading
                key={column.name}
                name={column.name}
                isSortable={resource.sortable.has(column.name)}
                isNumeric={isNumeric(column, valuesIn(items, column))}
                sort={sort}
                onSort={onSort}
              />
            ))}
            <Heading name="created" field="_metadata.created" isSortable sort={sort} onSort={onSort} />
            <th scope="col">creator</th>
            {lead !== undefined && <th scope="col">id</th>}
          </tr>
        </thead>
        <tbody>
          {listed.map((each) => (
            <Row
              {...props}
              key={each.item.id}
              each={each}
              isEditing={isEditing && isInScope(resource, each.item, signIn.credential?.caller)}
              columns={columns}
              lead={lead}
              open={open}
              onOpen={(id) => setOpen((before) => new Set(before).add(id))}
              onClose={(id) => setOpen((before) => before.difference(new Set([id])))}
            />
          ))}
        </tbody>
      </table>
    </Sideways>
  );
}

/** A row that moves takes the focus along. */
function useKeptFocus(listed: readonly ListedObject[]) {
  const table = useRef<HTMLTableElement>(null);
  const focused = document.activeElement;
  useLayoutEffect(() => {
    const isLost = focused instanceof HTMLElement && focused !== document.activeElement;
    if (isLost && table.current?.contains(focused)) focused.focus({ preventScroll: true });
  }, [listed]);
  return table;
}

interface RowProps extends ObjectTableProps {
  readonly each: ListedObject;
  readonly columns: readonly Column[];
  readonly lead: Column | undefined;
  readonly open: ReadonlySet<string>;
  readonly onOpen: (id: string) => void;
  readonly onClose: (id: string) => void;
}

function Row(props: RowProps) {
  const { resource, each, columns, lead } = props;
  const { item } = each;
  const href = fragmentOf({ kind: "object", resource: resource.name, id: item.id });
  const isEdited = props.isEditing || (lead !== undefined && props.open.has(cellId(each, lead)));
  const named = lead === undefined ? undefined : valueIn(item, lead.path);
  const link = (
    <a class="row" href={href}>
      {typeof named === "string" && named !== "" ? <CellValue value={named} /> : shortId(item.id)}
    </a>
  );
  return (
    <tr>
      <th scope="row">{isEdited && lead !== undefined ? <Cell {...props} column={lead} /> : link}</th>
      {columns
        .filter((column) => column !== lead)
        .map((column) => (
          <td key={column.name} {...(isNumeric(column, [valueIn(item, column.path)]) && { class: "number" })}>
            <Cell {...props} column={column} />
          </td>
        ))}
      <td class="quiet time">{timeOf(item._metadata?.created)}</td>
      <td class="quiet">{String(item._metadata?.creator ?? "")}</td>
      {lead !== undefined && (
        <td class="quiet id" title={item.id}>
          {shortId(item.id)}
        </td>
      )}
    </tr>
  );
}

interface CellProps extends RowProps {
  readonly column: Column;
}

function Cell({ resource, each, column, isEditing, open, onOpen, onClose, onStored }: CellProps) {
  const value = valueIn(each.item, column.path);
  const { field } = column;
  const id = cellId(each, column);
  const isOpen = open.has(id);
  const isScalar = field !== undefined && !["group", "list", "json"].includes(field.control.kind);
  const isEditable = isScalar && (isOpen || (isEditing && fits(field.control, cellText(value))));
  if (!isEditable) return <CellValue value={value} />;
  if (!isOpen) {
    return (
      <button type="button" class="cell" id={id} onClick={() => onOpen(id)}>
        <CellValue value={value} />
        <span class="visually-hidden">, edit {column.name}</span>
      </button>
    );
  }
  return (
    <>
      <span class="cell" aria-hidden="true">
        <CellValue value={value} />
      </span>
      <CellEditor
        url={`api/${encodeURIComponent(resource.name)}/${encodeURIComponent(each.item.id)}`}
        listed={each}
        path={column.path}
        field={field}
        onStored={onStored}
        onClose={(hasFocus) => {
          onClose(id);
          // Once it is drawn as a button again.
          if (hasFocus) requestAnimationFrame(() => document.getElementById(id)?.focus());
        }}
      />
    </>
  );
}

function cellId({ item }: ListedObject, { name }: Column): string {
  return `cell ${item.id} ${name}`;
}

interface HeadingProps extends Pick<ObjectTableProps, "sort" | "onSort"> {
  readonly name: string;
  /** What the list is sorted by, if it isn't the name. */
  readonly field?: string;
  readonly isSortable: boolean;
  readonly isNumeric?: boolean;
}

function Heading({ name, field = name, isSortable, isNumeric: isRight = false, sort, onSort }: HeadingProps) {
  const className = isRight ? { class: "number" } : {};
  if (!isSortable) {
    return (
      <th scope="col" {...className}>
        {name}
      </th>
    );
  }
  const [order, arrow] = orderOf(field, sort);
  return (
    <th scope="col" aria-sort={order} {...className}>
      <button type="button" class="sort" onClick={() => onSort(nextSort(sort, field))}>
        {name} <span aria-hidden="true">{arrow}</span>
      </button>
    </th>
  );
}

function orderOf(name: string, sort: string | undefined): readonly ["ascending" | "descending" | "none", string] {
  if (sort === name) return ["ascending", "▲"];
  return sort === `-${name}` ? ["descending", "▼"] : ["none", "↕"];
}

function valuesIn(items: readonly object[], { path }: Column): readonly unknown[] {
  return items.map((item) => valueIn(item, path));
}

/** A box that scrolls sideways, with a shadow on the side where it goes on. */
function Sideways({ children }: { readonly children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [sides, setSides] = useState("");
  const look = (): void => {
    const { scrollLeft = 0, scrollWidth = 0, clientWidth = 0 } = box.current ?? {};
    const hasRight = scrollLeft + clientWidth < scrollWidth - 1;
    setSides(`${scrollLeft > 0 ? "more-left" : ""} ${hasRight ? "more-right" : ""}`.trim());
  };
  useLayoutEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const observer = new ResizeObserver(look);
    for (const each of [current, ...current.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  return (
    <div class={`sideways ${sides}`}>
      <div ref={box} class="scrolls" onScroll={look}>
        {children}
      </div>
    </div>
  );
}
