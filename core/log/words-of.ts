/** An error in a log line: what it is, and what it says. For errors whose messages hold no secret. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
}
