/** An error as log lines show it: its name and message. For errors whose messages hold no secret. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
}
