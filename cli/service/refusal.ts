// What a command that talks to a service, or writes a file, tells a person who can do something
// about it. Anything else is a defect and stays an error.

import { note } from "./notes.ts";
import { ServerAway, ServiceRefused } from "./service.ts";

export function refusalOf(error: unknown): string | undefined {
  const isOfFiles = error instanceof Error && "syscall" in error;
  return error instanceof ServiceRefused || error instanceof ServerAway || isOfFiles ? error.message : undefined;
}

/** Returns the exit code. */
export function noteRefusal(error: unknown): number {
  const refusal = refusalOf(error);
  if (refusal === undefined) throw error;
  note(refusal);
  return 1;
}

export const serviceProgram = { name: "jsonplane", refusalOf };
