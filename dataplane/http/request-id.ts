// The id that a request is known by in its answer and in the log: the client's own when it is harmless, else a new one.

import { randomUUID } from "node:crypto";

const harmless = /^[A-Za-z0-9._-]{1,128}$/;

export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === "string" && harmless.test(sent) ? sent : randomUUID();
}
