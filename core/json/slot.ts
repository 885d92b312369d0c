// A place in a canonical JSON text that is changed in many places: a text as long as nothing inside was changed.

export interface Slot {
  value: string | Taken;
}

/** A container that was taken apart, as far as changes go into it. */
export interface Taken {
  /** The canonical text of what is in it now. */
  text(): string;
}

/** The canonical text of what is at a slot now. */
export function textOf({ value }: Slot): string {
  return typeof value === "string" ? value : value.text();
}
