// One request on its way: what came in, and what the stages found out so far. Observation reads it when the response is sent,
// however far the request got. Types only.

import type { FastifyRequest } from "fastify";
import type { Problem } from "../../core/errors/problem.ts";
import type { Slot } from "../admission/fair-share.ts";
import type { SharedBucket } from "../admission/shared-bucket.ts";
import type { Proof } from "../authenticate/create-authentication.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Target } from "../route/route.ts";

export interface Exchange {
  readonly request: FastifyRequest;
  readonly requestId: string;
  /** The request target as sent. */
  readonly rawUrl: string;
  /** Time of performance.now(). */
  readonly startedAt: number;
  /** Resolves when the connection refuses the rest of the body, with what the parser or the time limit says. */
  bodyRefused?: Promise<Error> | undefined;
  /** Sends 100 Continue, for which the client waits with its body (`Expect: 100-continue`); absent when it does not wait. */
  sendContinue?: () => void;
  /** Its slot of the project's fair share of the replica; absent before it is acquired and after its release. */
  slot?: Slot | undefined;
  /** Gives the bytes of the body back to their budget; absent before the body is there. */
  releaseBody?: (() => void) | undefined;
  /** The generation of kept plans (kept-plans.ts) in which its plan was found or decided; absent for reads by a kept plan. */
  generation?: number;
  project?: LiveProject;
  /** What it is refused with. */
  problem?: Problem;
  target?: Target;
  /** Decoded segments below the resource or root key: an object's id, or where a value stands. */
  subPath?: readonly string[];
  /** Who sends it; absent until that is proved. */
  proof?: Proof | undefined;
  /** What the project's rates leave to this caller; absent in projects without any. */
  rates?: readonly SharedBucket[] | undefined;
  /** The metrics that it is counted in, where its plan names them. */
  counters?: RequestCounters | undefined;
}

/** What requests of one method for one resource or root key are counted in. */
export interface RequestCounters {
  count(ending: Ending): void;
}

/** How it ended. */
export interface Ending {
  readonly status: number;
  /** Code of the problem, when it was one. */
  readonly code: string | undefined;
  readonly seconds: number;
}
