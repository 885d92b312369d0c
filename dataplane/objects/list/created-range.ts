// Turns filters on the time of creation into the range of ids that objects created then have.

import type { IdRange } from "../../store/ports/lists.ts";
import { beginningOfIds } from "../object-ids.ts";
import type { Filter } from "./filters.ts";
import { createdField } from "./service-fields.ts";

/** Undefined if no filter bounds the time of creation by a range. Other filters on it look at the objects in the range. */
export function createdRange(filters: readonly Filter[]): IdRange | undefined {
  const known = filters.map(boundsOfCreated).filter((each) => each !== undefined);
  if (known.length === 0) return undefined;
  return {
    from: beginningOfIds(Math.max(...known.map(({ from }) => from))),
    to: beginningOfIds(Math.min(...known.map(({ to }) => to))),
  };
}

/** Whether the filter is a range of times of creation, and nothing more. */
export function isCreatedRange(filter: Filter): boolean {
  return boundsOfCreated(filter) !== undefined;
}

/** A property literally named `_metadata.created` has a path of one part. */
function boundsOfCreated(filter: Filter): Seconds | undefined {
  return filter.name === createdField && filter.path.length > 1 ? boundsOf(filter) : undefined;
}

/** Unix seconds: first included, first excluded. */
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
