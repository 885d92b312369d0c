// Reads what a write says, once the write is admitted: nothing of a body is read before.

import type { CanonicalJson } from "../../core/json/canonical.ts";
import type { Exchange } from "../http/exchange.ts";
import { bodyDepth, type Patch, patchFormatOf, readPatch } from "../http/patch.ts";
import { maxDepth, readBody } from "../http/read-body.ts";
import { idempotencyKeyOf } from "./idempotency.ts";
import type { OperationDeps, OperationPlan } from "./plan.ts";

/** What a write says. */
export interface SentBody {
  readonly body?: CanonicalJson;
  /** The body of a PATCH, read. */
  readonly patch?: Patch;
  readonly idempotencyKey?: string | undefined;
}

const noBody: SentBody = Object.freeze({});

/** The body of a write that has one, once the write is admitted. */
export async function admittedBody(
  { anonymousWrites, bodies }: OperationDeps,
  { project, operation, caller }: OperationPlan,
  exchange: Exchange,
): Promise<SentBody> {
  const { raw, headers, ip } = exchange.request;
  if (caller.kind === "anonymous") await anonymousWrites.spend(project.config, ip);
  if (operation === "delete") return noBody;
  const format = raw.method === "PATCH" ? patchFormatOf(raw) : undefined;
  const sentKey = operation === "create" ? headers["idempotency-key"] : undefined;
  const idempotencyKey = sentKey === undefined ? undefined : idempotencyKeyOf(headers);
  const arriving = {
    budget: bodies.of(project),
    message: raw,
    refused: exchange.bodyRefused,
    hold: (release: () => void) => {
      exchange.releaseBody = release;
    },
    invite: () => exchange.inviteBody?.(),
  };
  const depth = format === undefined ? maxDepth : bodyDepth(format);
  const body = await readBody(project.config.limits.maxBodyBytes, arriving, depth);
  return format === undefined ? { body, idempotencyKey } : { body, patch: readPatch(format, body) };
}

export function present(body: CanonicalJson | undefined): CanonicalJson {
  if (!body) throw new Error("A write was performed without its body");
  return body;
}
