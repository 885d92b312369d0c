// Undoes percent-encoding (RFC 3986 §2.1) of UTF-8 text; undefined when it is not that.

export function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    // A URIError is all that decodeURIComponent throws; each caller says it in its client's words.
    return undefined;
  }
}
