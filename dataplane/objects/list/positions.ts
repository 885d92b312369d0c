// Turns a cursor into the place where an index goes on, and back: a cursor has the values of the keys that the client sorts by, an
// entry of an index those of the fields that it is of. Pure.

import { betweenValues } from "../../store/order.ts";
import type { Position } from "../../store/port.ts";
import type { Cursor } from "./cursor.ts";
import type { IndexUse, Restrictions } from "./plan.ts";
import type { Order } from "./sort.ts";

/** `use` = undefined in order of creation alone. */
export function positionOf(cursor: Cursor, order: Order, use: IndexUse | undefined, known: Restrictions): Position {
  if (use === undefined) return { value: "", id: cursor.id };
  const deciding = cursor.values.filter((_, at) => constantAt(order, at, known) === undefined);
  return { value: [...use.constants, ...deciding].join(betweenValues), id: cursor.id };
}

export function cursorOf(position: Position, order: Order, use: IndexUse | undefined, known: Restrictions): Cursor {
  const deciding = use === undefined ? [] : position.value.split(betweenValues).slice(use.constants.length);
  const values = order.keys.map((_, at) => constantAt(order, at, known) ?? deciding.shift() ?? "");
  return { values, id: position.id };
}

function constantAt(order: Order, at: number, known: Restrictions): string | undefined {
  return known.get(order.keys[at]?.name ?? "")?.constant;
}
