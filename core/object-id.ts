// Ids of stored objects, as texts have them.

/** A UUID in lower case (RFC 9562, section 4), for patterns. */
export const objectId = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** Of a stored object by its text, which begins with it: `{"id":"<UUID>"`. */
export function idIn(text: string): string {
  return text.slice(7, 43);
}
