// Simple case folding (Unicode, section 3.13; C and S of CaseFolding.txt): equal texts for strings
// that differ in case only, one code point for each. JavaScript has it in regular expressions
// alone, so they decide which of a letter's other forms stands for all of them.

/** By letter; begins with those that have an upper case of several letters only. */
const known = new Map([
  ["\u1fd3", "\u0390"],
  ["\u1fe3", "\u03b0"],
  ["\ufb05", "\ufb06"],
]);

/** The same text for all strings that are equal by simple case folding. */
export function folded(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is ASCII.
  if (/^[\x00-\x7f]*$/.test(value)) return value.toLowerCase();
  let result = "";
  for (const point of value) result += foldedPoint(point);
  return result;
}

function foldedPoint(point: string): string {
  const found = known.get(point);
  if (found !== undefined) return found;
  const others = [point.toUpperCase().toLowerCase(), point.toLowerCase()].filter((other) => other !== point);
  if (others.length === 0) return point;
  const isPoint = new RegExp(`^\\u{${point.codePointAt(0)?.toString(16)}}$`, "iu");
  const fold = others.find((other) => isPoint.test(other)) ?? point;
  // As many as there are letters with two forms.
  known.set(point, fold);
  return fold;
}
