// Turns a cursor into the position in an index scan at which the page starts, and the position of a
// page's last entry into a cursor. Pure.

import { betweenValues } from "../../store/order.ts";
import type { Position } from "../../store/ports/lists.ts";
import type { Cursor } from "./cursor.ts";
import type { FieldConstraints, IndexScan } from "./query-plan.ts";
import type { Order } from "./sort.ts";

/**
 * Where an index scan continues. A cursor has the values of the sort keys; an index entry has those
 * of the index's fields: the equality prefix, then the other sort keys. `scan` = undefined in order
 * of creation.
 */
export function positionOf(
  cursor: Cursor,
  order: Order,
  scan: IndexScan | undefined,
  constraints: FieldConstraints,
): Position {
  if (scan === undefined) return { value: "", id: cursor.id };
  const deciding = cursor.values.filter((_, at) => constantAt(order, at, constraints) === undefined);
  return { value: [...scan.equalityPrefix, ...deciding].join(betweenValues), id: cursor.id };
}

export function cursorOf(
  position: Position,
  order: Order,
  scan: IndexScan | undefined,
  constraints: FieldConstraints,
): Cursor {
  const deciding = scan === undefined ? [] : position.value.split(betweenValues).slice(scan.equalityPrefix.length);
  const values = order.keys.map((_, at) => constantAt(order, at, constraints) ?? deciding.shift() ?? "");
  return { values, id: position.id };
}

function constantAt(order: Order, at: number, constraints: FieldConstraints): string | undefined {
  return constraints.get(order.keys[at]?.name ?? "")?.constant;
}
