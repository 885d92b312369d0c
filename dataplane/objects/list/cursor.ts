// Turns the position after the last item of a page into opaque text and back. A cursor says where
// to continue and nothing else, so a forged one grants no access. Refuses with `invalid_parameter`
// one that is damaged, or of another order.

import { hash } from "node:crypto";
import { Problem } from "../../../core/errors/problem.ts";
import { objectId } from "../../../core/object-id.ts";
import { type ClientPosition, parsePositions, positionsText } from "../../changes/positions.ts";
import type { Order } from "./sort.ts";

export interface Cursor {
  /** Encoded values (store/order.ts) of the order's keys. */
  readonly values: readonly string[];
  readonly id: string;
  /** From where to follow the changes of the pages until here, where changes are logged. */
  readonly position?: ClientPosition;
}

const version = "1";
const separator = "\0";
/** Four keys of 1,024 bytes, every byte escaped, as base64. */
const maxLength = 12_000;
const idForm = new RegExp(`^${objectId}$`);
/** What an encoding begins with; none contains NUL. */
const valueForm = /^[0-6]/;

export function cursorText(order: Order, { values, id, position }: Cursor): string {
  const parts = [version, orderTag(order), id, ...values];
  if (position !== undefined) parts.push(positionsText([position]));
  return Buffer.from(parts.join(separator)).toString("base64url");
}

export function parseCursor(text: string, order: Order): Cursor {
  if (text.length > maxLength || !/^[\w-]+$/.test(text)) throw damaged();
  const bytes = Buffer.from(text, "base64url");
  const plain = bytes.toString();
  // Text that is not UTF-8, or has unused bits set, would decode to another cursor.
  if (Buffer.from(plain).toString("base64url") !== text) throw damaged();
  const [itsVersion, tag, id = "", ...rest] = plain.split(separator);
  const values = rest.slice(0, order.keys.length);
  const [positions, ...more] = rest.slice(order.keys.length);
  if (itsVersion !== version || !idForm.test(id) || !values.every((value) => valueForm.test(value))) throw damaged();
  if (tag !== orderTag(order) || values.length !== order.keys.length) throw ofAnotherOrder();
  if (more.length > 0) throw damaged();
  if (positions === undefined) return { values, id };
  const [position] = parsePositions(positions, "The position in `_cursor`");
  return { values, id, ...(position && { position }) };
}

/** Tells orders apart, so that a cursor is not used with another one; it protects nothing. */
function orderTag({ keys, descending }: Order): string {
  const named = keys.map((key) => [key.name, key.descending]);
  return hash("sha1", JSON.stringify([named, descending]), "hex").slice(0, 8);
}

function damaged(): Problem {
  return new Problem(
    "invalid_parameter",
    "`_cursor` is not valid; copy it unchanged from `links.next` of this list, or leave it empty to begin at the start",
  );
}

function ofAnotherOrder(): Problem {
  return new Problem(
    "invalid_parameter",
    "`_cursor` belongs to another order; send the `_sort` that it came with, or leave it empty to begin at the start",
  );
}
