// A request as it arrived, what became known of it, its response, and how it ended.

import type { ServerResponse } from "node:http";
import type { FastifyRequest } from "fastify";
import type { Problem } from "../../core/errors/problem.ts";
import type { SharedBucket } from "../admission/shared-bucket.ts";
import type { Proof } from "../authenticate/create-authentication.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Target } from "../route/route.ts";

export interface IncomingRequest {
  readonly request: FastifyRequest;
  readonly requestId: string;
  /** The request target as sent. */
  readonly rawUrl: string;
  /** Resolves when the connection refuses the rest of the body. */
  readonly bodyRefused?: Promise<Error> | undefined;
  /** Whether it goes on for as long as its session, also when its access token has expired. */
  readonly outlivesToken?: boolean;
  /** Sends 100 Continue; absent unless the client waits for it (`Expect: 100-continue`). */
  readonly sendContinue?: (() => void) | undefined;
}

/** What was known of a request when it ended; of a refused one, up to the refusal. */
export interface RequestContext {
  readonly project?: LiveProject | undefined;
  /** Absent where the plan was cached: then `counters` are there. */
  readonly target?: Target | undefined;
  readonly proof?: Proof | undefined;
  readonly counters?: RequestCounters | undefined;
  /** What the project's rates leave to this caller; absent in projects without any. */
  readonly rates?: readonly SharedBucket[] | undefined;
}

export const emptyContext: RequestContext = Object.freeze({});

/** What requests of one method for one resource or root key are counted in. */
export interface RequestCounters {
  count(ending: Pick<Ending, "status" | "seconds">): void;
}

export interface HttpResponse {
  readonly status: number;
  /** Sent as it is, as JSON unless `headers` name another Content-Type; absent = no body. */
  readonly text?: string;
  /** A body in place of `text`: a page or one of its files, shared by all responses. */
  readonly file?: { readonly type: string; readonly bytes: Uint8Array };
  /** A body in place of `text` that is written over time: called once the head was sent. */
  readonly stream?: (response: ServerResponse) => void;
  readonly headers?: Readonly<Record<string, string>>;
  /** True when the body holds credentials and no cache may keep it. */
  readonly secret?: boolean;
}

export function ok(text: string): HttpResponse {
  return { status: 200, text };
}

export const noContent: HttpResponse = Object.freeze({ status: 204 });

/** The end of a request for those who serve it: a response, or why there is none. */
export type Answer = { readonly context: RequestContext } & (
  | { readonly response: HttpResponse }
  | { readonly error: unknown }
);

/** The end of a request for those who observe it. */
export interface Ending {
  readonly status: number;
  /** Code of the problem that was sent; absent after a success. */
  readonly code: string | undefined;
  readonly seconds: number;
  readonly context: RequestContext;
  /** What it was refused with. */
  readonly problem?: Problem | undefined;
}
