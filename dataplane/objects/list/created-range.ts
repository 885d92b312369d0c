// Turns filters on the time of creation into the range of ids that objects created then have.

import type { IdRange } from "../../store/ports/lists.ts";
import { beginningOfIds } from "../object-ids.ts";
import type { Filter } from "./filters.ts";
import { createdField } from "./service-fields.ts";

/** Undefined when no filter bounds the time of creation, or one does so in another way than by a range. */
export function createdRange(filters: readonly Filter[]): IdRange | undefined {
  const bounds = filters.filter(isOfCreated).map(boundsOf);
  if (bounds.length === 0 || bounds.includes(undefined)) return undefined;
  const known = bounds.filter((each) => each !== undefined);
  return {
    from: beginningOfIds(Math.max(...known.map(({ from }) => from))),
    to: beginningOfIds(Math.min(...known.map(({ to }) => to))),
  };
}

export function isOfCreated({ name, path }: Filter): boolean {
  return name === createdField && path.length > 1;
}

/** Seconds: the first that is meant, and the first behind it that is not. */
interface Seconds {
  readonly from: number;
  readonly to: number;
}

function boundsOf({ operator, values: [text = ""] }: Filter): Seconds | undefined {
  const value = Number(text);
  const all = { from: 0, to: Number.POSITIVE_INFINITY };
  switch (operator) {
    case "eq":
      return { from: value, to: value + 1 };
    case "ge":
      return { ...all, from: Math.ceil(value) };
    case "gt":
      return { ...all, from: Math.floor(value) + 1 };
    case "lt":
      return { ...all, to: Math.ceil(value) };
    case "le":
      return { ...all, to: Math.floor(value) + 1 };
    default:
      return undefined;
  }
}
