// Reads what a write says, once the write is admitted: nothing of a body is read before.

import type { CanonicalJson } from "../../core/json/canonical.ts";
import type { LiveProject } from "../config/directory.ts";
import type { Exchange } from "../http/exchange.ts";
import { bodyDepth, type Patch, patchFormatOf, readPatch } from "../http/patch.ts";
import { readBody } from "../http/read-body.ts";
import type { OperationContext, OperationDeps } from "./context.ts";
import { idempotencyKeyOf } from "./idempotency.ts";

/** What a write says. */
export interface SentBody {
  readonly body?: CanonicalJson;
  /** The body of a PATCH, read. */
  readonly patch?: Patch;
  readonly idempotencyKey?: string | undefined;
}

export const noBody: SentBody = Object.freeze({});

/** The body of a write that has one, once the write is admitted. */
export async function admittedBody(
  deps: OperationDeps,
  exchange: Exchange,
  operation: OperationContext,
): Promise<SentBody> {
  const { project } = operation.resolved;
  if (operation.caller.kind === "anonymous") {
    await deps.anonymousWrites.spend(project.config, exchange.request.ip);
  }
  if (operation.rule === "delete") return noBody;
  const format = patchFormatOf(exchange.request.raw);
  const idempotencyKey = operation.rule === "create" ? idempotencyKeyOf(exchange.request.headers) : undefined;
  const body = await bodyOf(deps, exchange, project, bodyDepth(format));
  return format === undefined ? { body, idempotencyKey } : { body, patch: readPatch(format, body) };
}

function bodyOf(deps: OperationDeps, exchange: Exchange, project: LiveProject, depth: number): Promise<CanonicalJson> {
  const body = {
    budget: deps.bodies.of(project),
    message: exchange.request.raw,
    refused: exchange.bodyRefused,
    hold: (release: () => void) => {
      exchange.releaseBody = release;
    },
    invite: () => exchange.inviteBody?.(),
  };
  return readBody(project.config.limits.maxBodyBytes, body, depth);
}

export function present(body: CanonicalJson | undefined): CanonicalJson {
  if (!body) throw new Error("A write was performed without its body");
  return body;
}
