// Fields of CSV (RFC 4180) that no spreadsheet takes for a formula, and where a first record ends.

/** OWASP, CSV Injection: what a cell begins with that a spreadsheet computes, in both widths. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;
const special = /[",\r\n]/;

/** Text of a person: what looks like a formula gets an apostrophe in front. Empty text is `""`. */
export function textField(text: string): string {
  const harmless = formula.test(text) ? `'${text}` : text;
  return harmless === "" ? '""' : quoteWhereNeeded(harmless);
}

/** A field as it is. */
export function quoteWhereNeeded(text: string): string {
  return special.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const endOfRecord = "\r\n";

/** The first record with its end, which a quoted field may have inside. */
export function firstRecord(csv: string): string {
  return /^(?:[^"\r]|"[^"]*")*(?:\r\n)?/.exec(csv)?.[0] ?? "";
}
