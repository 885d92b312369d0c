// Writes and reads JSON Pointers (RFC 6901).

/** `pointer` one step further down. */
export function below(pointer: string, segment: string | number): string {
  return `${pointer}/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
