// Writes a time as RFC 3339 in whole seconds, as Kubernetes does, and recognises what it wrote.
// Reads any time that RFC 3339 allows.

export function rfc3339(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.[0-9]{3}Z$/, "Z");
}

export function isRfc3339(value: unknown): boolean {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return !Number.isNaN(time) && rfc3339(time) === value;
}

const form = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d):(\d\d)((?:\.\d+)?)([Zz]|[+-]\d\d:\d\d)$/;

/** Unix milliseconds of any time that RFC 3339 §5.6 allows; undefined of another text. */
export function unixMilliseconds(text: string): number | undefined {
  const [, date, minute, second, fraction, offset = ""] = form.exec(text) ?? [];
  // Date knows no leap seconds: 23:59:60 is the end of 23:59:59.
  const isLeap = second === "60";
  const time = Date.parse(`${date}T${minute}:${isLeap ? "59" : second}${fraction}${offset.toUpperCase()}`);
  return Number.isNaN(time) ? undefined : time + (isLeap ? 1_000 : 0);
}
