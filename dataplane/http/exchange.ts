// One request on its way: what came in, and what the stages found out so far. Observation reads it when the answer is sent,
// however far the request got.

import { randomUUID } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { Work } from "../admission/fair-share.ts";
import type { SharedBucket } from "../admission/shared-bucket.ts";
import type { Caller } from "../authenticate/caller.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Target } from "../route/route.ts";

export interface Exchange {
  readonly request: FastifyRequest;
  readonly requestId: string;
  /** The request target as sent. */
  readonly rawUrl: string;
  /** Of performance.now(). */
  readonly startedAt: number;
  /** Resolves when the connection refuses the rest of the body, with what the parser or the time limit says. */
  bodyRefused?: Promise<Error> | undefined;
  /** Asks for the body that the client holds back until then (`Expect: 100-continue`); absent when it holds nothing back. */
  inviteBody?: () => void;
  /** The part that it takes in its project's share; absent before and after. */
  work?: Work | undefined;
  /** Gives the bytes of the body back to their budget; absent before the body is there. */
  releaseBody?: () => void;
  project?: LiveProject;
  target?: Target;
  caller?: Caller;
  /** What the project's rates leave to this caller; absent in projects without any. */
  rates?: readonly SharedBucket[] | undefined;
}

/** How it ended. */
export interface Ending {
  readonly status: number;
  /** Code of the problem, when it was one. */
  readonly code: string | undefined;
  readonly seconds: number;
}

const harmless = /^[A-Za-z0-9._-]{1,128}$/;

/** What a request is known by in its answer and in the log: the client's own id when it is harmless, else a new one. */
export function requestId(sent: string | string[] | undefined): string {
  return typeof sent === "string" && harmless.test(sent) ? sent : randomUUID();
}

/** The scheme and host that a request used, for absolute links; behind proxies only as trusted ones say. `http(s)://host[:port]`, without a trailing slash. The host has passed requireHost. */
export function requestOrigin(request: FastifyRequest, fallback: string): string {
  const { host } = request;
  return host ? `${request.protocol === "https" ? "https" : "http"}://${host}` : fallback;
}
