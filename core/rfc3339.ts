// Writes a time as RFC 3339 in whole seconds, as Kubernetes writes its own times.

export function rfc3339(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.[0-9]{3}Z$/, "Z");
}
