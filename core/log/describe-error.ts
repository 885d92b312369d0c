/** An error in log lines: its name and message. For errors whose messages contain no secret. */
export function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : typeof error;
}

/** An error's name alone: for errors whose messages may hold stored data. */
export function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
