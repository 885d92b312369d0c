// Parses a text that may be anything: undefined when it is not JSON. The parser's error is dropped,
// because its message quotes the text, which may be secret. Names with escapes may be wrong, as
// parse-json.ts says: the API server's answers have thousands of them in managedFields, which are
// dropped, and reading each exactly would take several times as long.

export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
