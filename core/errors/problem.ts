// The one error class that means "respond to the client with this problem";
// core/http/problem-response.ts turns it into a response. Everything else that is thrown is a
// defect and becomes `internal_error`.

import type { ErrorCode } from "./catalogue.ts";

export interface ProblemItem {
  /** RFC 6901 pointer into the body. */
  readonly pointer: string;
  readonly keyword: string;
  readonly message: string;
}

export interface ProblemExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly ProblemItem[];
  readonly cause?: unknown;
}

export class Problem extends Error {
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly errors: readonly ProblemItem[] | undefined;

  /** `detail` is shown to the client: what is wrong and what to send instead. No secrets. */
  constructor(code: ErrorCode, detail: string, extras: ProblemExtras = {}) {
    super(detail, extras.cause === undefined ? undefined : { cause: extras.cause });
    this.name = "Problem";
    this.code = code;
    this.headers = extras.headers ?? {};
    this.errors = extras.errors;
  }
}
