// The one error of the fetchers: a real part that the tests or the command line need isn't on this machine and couldn't be
// brought here. Its message says what was tried and what a person can do.

export class PartMissing extends Error {
  override readonly name = "PartMissing";
}

/** "Redis is missing: …" followed by the ways out, one per line. */
export function partMissing(what: string, ways: readonly string[], cause?: unknown): PartMissing {
  const text = [what, ...ways.map((way) => `  - ${way}`)].join("\n");
  return new PartMissing(text, cause === undefined ? undefined : { cause });
}
