// Names a place in a manifest in the two ways that people read: `spec.hosts[0]` as the API server writes it, and the JSON
// Pointer `/spec/hosts/0`.

/** Keys and indices from the object's root to the place. */
export type FieldPath = readonly (string | number)[];

/** `spec.hosts[0]`; the root is the empty text. */
export function fieldText(path: FieldPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}
