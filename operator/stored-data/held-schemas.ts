// What was found of schemas that are live only once no stored object breaks them, before it is
// decided what to serve. A schema that was refused stays so until its spec is edited, or a probe
// has found nothing any more: it binds nobody, since clients that write by the former schema are
// not to be refused every ten minutes.

import type { CheckResult } from "../../core/config/object-check.ts";
import type { CompiledProject, JsonObject } from "../../core/config/types.ts";
import { holdsSchema } from "../compile/child-configs.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import { reportedCheck } from "../model/reported-check.ts";
import type { CheckOrders, CheckState } from "../publish/replica-orders.ts";
import type { KnownCheck, KnownChecks } from "./known-orders.ts";

/** By UID of the ApiResource. */
export type HeldSchemas = ReadonlyMap<string, CheckResult>;

/** A schema that is to be tried, also once more, is not among them. */
export type FindHeldSchemas = (
  objects: Pick<ProjectObjects, "resources">,
  published: CompiledProject | undefined,
  orders: CheckOrders,
) => Promise<HeldSchemas>;

export interface HeldSchemasDeps {
  readonly known: KnownChecks;
  readonly digestOf: (schema: JsonObject) => string;
  readonly now: () => number;
}

/** After it, a schema that was refused is probed. */
const probeAfterMs = 600_000;

export function createHeldSchemas({ known, digestOf, now }: HeldSchemasDeps): FindHeldSchemas {
  const resultOf = async (resource: ApiResource, orders: CheckOrders): Promise<CheckResult | undefined> => {
    const check = await known.of(resource.metadata.uid, orders);
    if (check?.isNext !== true || check.schema !== digestOf(resource.spec.schema)) return undefined;
    const { result, order } = decide(check, await known.stateOf(check, orders), { resource, now: now() });
    if (order === "forget") await known.forget(check, orders);
    if (order === "probe") {
      const { id: _id, key: _key, ...same } = check;
      await known.order({ ...same, isProbe: true }, orders);
    }
    return result;
  };
  return async ({ resources }, published, orders) => {
    const held = new Map<string, CheckResult>();
    for (const resource of resources) {
      const config = published?.resources.get(resourceNameOf(resource));
      const isHeld = config?.uid === resource.metadata.uid && holdsSchema(resource, config);
      const result = isHeld ? await resultOf(resource, orders) : undefined;
      if (result !== undefined) held.set(resource.metadata.uid, result);
    }
    return held;
  };
}

interface Decision {
  /** Undefined = the schema is tried. */
  readonly result: CheckResult | undefined;
  /** What becomes of the order. */
  readonly order: "keep" | "forget" | "probe";
}

const tryIt: Decision = { result: undefined, order: "forget" };

interface DecideContext {
  readonly resource: ApiResource;
  readonly now: number;
}

function decide(check: KnownCheck, state: CheckState, { resource, now }: DecideContext): Decision {
  // Each edit is tried anew: between two of them, writes may have been free to break this schema.
  if (check.generation !== resource.metadata.generation) return tryIt;
  if (state.state !== "done") return { result: check.isProbe ? saidResult(resource) : undefined, order: "keep" };
  const { result } = state;
  if (result.invalid === 0) return check.isProbe ? tryIt : { result, order: "keep" };
  return { result, order: mayProbe(result, now) ? "probe" : "keep" };
}

export function isRefusal({ isNext }: Pick<KnownCheck, "isNext">, state: CheckState): boolean {
  return isNext === true && state.state === "done" && state.result.invalid > 0;
}

export function mayProbe({ endedAt }: CheckResult, now: number): boolean {
  return now - endedAt >= probeAfterMs;
}

/** What the status says was found. */
function saidResult(resource: ApiResource): CheckResult | undefined {
  const { checked = 0, invalid = 0, examples = [], checkedAt } = reportedCheck(resource.status) ?? {};
  return checkedAt === undefined ? undefined : { checked, invalid, examples, endedAt: Date.parse(checkedAt) };
}
