// Records of CSV (RFC 4180).

export const endOfRecord = "\r\n";

/** The first record with its end, which a quoted field may have inside. */
export function firstRecord(csv: string): string {
  return /^(?:[^"\r]|"[^"]*")*(?:\r\n)?/.exec(csv)?.[0] ?? "";
}
