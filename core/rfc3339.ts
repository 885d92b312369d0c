// Writes a time as RFC 3339 in whole seconds, as Kubernetes does, and recognises what it wrote.

export function rfc3339(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.[0-9]{3}Z$/, "Z");
}

export function isRfc3339(value: unknown): boolean {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return !Number.isNaN(time) && rfc3339(time) === value;
}
