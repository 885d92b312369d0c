// Checks short texts for host names and for regular expressions.

const maxHostname = 253;
const label = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const hostname = new RegExp(`^${label}(?:\\.${label})*$`);

/** RFC 1123 §2.1. Labels that begin with `xn--` are not decoded. */
export function isHostname(text: string): boolean {
  return text.length <= maxHostname && hostname.test(text);
}

/** ECMA-262's escapes by letters and digits; without flag `u`, engines take any other letter for itself. */
const otherEscape = /\\(?![bBcdDfknpPrsStuvwWx\d])[\p{ID_Continue}]/u;

export function isRegex(text: string): boolean {
  if (otherEscape.test(text.replaceAll("\\\\", ""))) return false;
  try {
    new RegExp(text);
    return true;
  } catch {
    // Nothing but a SyntaxError is thrown here.
    return false;
  }
}
