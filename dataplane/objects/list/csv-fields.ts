// Fields of CSV (RFC 4180), which no spreadsheet takes for a formula.

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
  return special.test(text) ? `"${text.length < longText ? text.replaceAll('"', '""') : doubled(text)}"` : text;
}

/** Characters. Where a text of MiB has a quote in each third, replaceAll takes a second. */
const longText = 4_096;
const quote = 0x22;

/** With each quote twice. */
function doubled(text: string): string {
  const bytes = Buffer.from(text);
  const written = Buffer.allocUnsafe(2 * bytes.length);
  let end = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) written[end++] = quote;
    written[end++] = byte;
  }
  return written.toString("utf8", 0, end);
}
