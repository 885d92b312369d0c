// One page of objects as a table: a row for each object, a column for each field that has a short
// value.

import type { Field, Resource } from "../description.ts";
import { fragmentOf } from "../route.ts";
import { ExactNumber } from "./exact-number.ts";
import { nextSort } from "./list-query.ts";
import { timeOf } from "./time-of.ts";

export interface StoredObject {
  readonly id: string;
  readonly _metadata?: { readonly created?: unknown; readonly creator?: unknown };
  readonly [name: string]: unknown;
}

export interface ObjectTableProps {
  readonly resource: Resource;
  readonly items: readonly StoredObject[];
  readonly sort: string | undefined;
  readonly onSort: (sort: string | undefined) => void;
}

/** More would not be read side by side. */
const maxColumns = 8;
/** Characters of a value in a cell; the object's own page shows the rest. */
const maxLength = 80;

export function ObjectTable({ resource, items, sort, onSort }: ObjectTableProps) {
  const columns = columnsOf(resource, items);
  return (
    <div class="scrolls">
      <table>
        <thead>
          <tr>
            <th scope="col">id</th>
            {columns.map((name) => (
              <Heading key={name} name={name} isSortable={resource.sortable.has(name)} sort={sort} onSort={onSort} />
            ))}
            <Heading name="created" field="_metadata.created" isSortable sort={sort} onSort={onSort} />
            <th scope="col">creator</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.id}>
              <th scope="row">
                <a
                  class="id"
                  title={item.id}
                  href={fragmentOf({ kind: "object", resource: resource.name, id: item.id })}
                >
                  {shortId(item.id)}
                </a>
              </th>
              {columns.map((name) => (
                <Cell key={name} value={Object.hasOwn(item, name) ? item[name] : undefined} />
              ))}
              <td class="quiet time">{timeOf(item._metadata?.created)}</td>
              <td class="quiet">{String(item._metadata?.creator ?? "")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HeadingProps extends Pick<ObjectTableProps, "sort" | "onSort"> {
  readonly name: string;
  /** What the list is sorted by, if it isn't the name. */
  readonly field?: string;
  readonly isSortable: boolean;
}

function Heading({ name, field = name, isSortable, sort, onSort }: HeadingProps) {
  if (!isSortable) return <th scope="col">{name}</th>;
  const [order, arrow] = orderOf(field, sort);
  return (
    <th scope="col" aria-sort={order}>
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

function Cell({ value }: { readonly value: unknown }) {
  if (value === undefined) return <td />;
  if (value === null) return <td class="quiet">null</td>;
  if (value instanceof ExactNumber) return <td class="number">{value.text}</td>;
  if (typeof value === "string") return <td>{shortened(value)}</td>;
  if (typeof value === "boolean") return <td>{String(value)}</td>;
  return <td class="json">{shortened(JSON.stringify(value))}</td>;
}

/** Declared fields first, then other members; lists and objects only while there is room. */
function columnsOf({ fields }: Resource, items: readonly StoredObject[]): readonly string[] {
  const declared = [...fields.filter(isShort), ...fields.filter((field) => !isShort(field))].map(({ name }) => name);
  const found = items.flatMap((item) => Object.keys(item));
  const names = new Set([...declared, ...found]);
  for (const name of ["id", "_metadata"]) names.delete(name);
  const shown = new Set([...names].slice(0, maxColumns));
  // In the order in which people wrote the schema.
  return [...new Set([...fields.map(({ name }) => name), ...names])].filter((name) => shown.has(name));
}

function isShort({ types }: Field): boolean {
  return !types.includes("object") && !types.includes("array");
}

/** Ids that were made at the same time begin alike. */
function shortId(id: string): string {
  return id.length <= 16 ? id : `${id.slice(0, 8)}…${id.slice(-6)}`;
}

function shortened(text: string): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
