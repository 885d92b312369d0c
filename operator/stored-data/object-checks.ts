// Has stored objects checked after the schema of an ApiResource has changed, where it declares
// that: ordered once no replica serves an older schema, so that whatever is written meanwhile meets
// it; followed until a replica has found how many don't; forgotten once the status says so. What is
// ordered is kept in Redis, and what was found in the status, so that a new leader goes on.
//
// With `Refuse` the check comes before the schema is live (compile/held-schema.ts). The order of a
// schema that was refused stands: it says why.

import { digestOf as computedDigest } from "../../core/config/canonical.ts";
import { type CheckOrder, type CheckResult, type CheckStage, objectChecks } from "../../core/config/object-check.ts";
import type { CompiledProject, JsonObject, ResourceConfig } from "../../core/config/types.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { HeldSchemas } from "../compile/held-schema.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource } from "../model/objects.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { reportedCheck, stillStands } from "../model/reported-check.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";
import type { CheckOrders, CheckState } from "../publish/replica-orders.ts";
import { createHeldSchemas, type FindHeldSchemas, isDueAgain, refusalIn } from "./held-schemas.ts";
import { type KnownCheck, type KnownChecks, KnownOrders } from "./known-orders.ts";

/** What is known of the stored objects of one ApiResource. */
export interface CheckReport {
  /** Of the schema of the spec. */
  readonly schema: string;
  /** Newly found; absent = what the status says of this schema stands. */
  readonly found?: CheckResult;
}

/** By UID; without those whose newest schema is not served by every replica. */
export type CheckReports = ReadonlyMap<string, CheckReport>;

export interface ServedProject {
  readonly objects: ProjectObjects;
  readonly config: CompiledProject | undefined;
  /** What was known when that was compiled. */
  readonly heldSchemas: HeldSchemas;
  readonly rollout: RolloutState;
}

export interface ObjectChecks {
  /** Before it is decided what to serve. */
  readonly heldSchemas: FindHeldSchemas;
  /** Orders what is missing. Asks nothing where no ApiResource declares a check. */
  reportsOf(served: ServedProject, orders: CheckOrders): Promise<CheckReports>;
  /** Looks at what replicas have found, and has the statuses follow. For a timer. */
  refresh(): Promise<void>;
  /** Redis may have come back with other orders than it had. */
  onSessionBegun(): void;
}

export interface ObjectChecksDeps {
  readonly now: () => number;
  /** Undefined before Redis was reached. */
  readonly orders: () => CheckOrders | undefined;
  /** The ApiResource of that UID as it is now; undefined = it is gone. */
  readonly resourceOf: (key: string, uid: string) => ApiResource | undefined;
  /** Has the Project looked at, and its statuses written. */
  readonly enqueue: (key: string) => void;
}

/** After it, objects that were found to be invalid are checked again. */
const againMs = 3_600_000;

export function createObjectChecks({ now, orders: openOrders, resourceOf, enqueue }: ObjectChecksDeps): ObjectChecks {
  const digestOf = rememberedDigests();
  const known: KnownChecks = new KnownOrders(objectChecks.what);
  /** Orders whose end the Project was enqueued for. */
  let ended: ReadonlySet<string> = new Set();

  const reportOf = async (
    resource: ApiResource,
    served: ServedProject,
    orders: CheckOrders,
  ): Promise<CheckReport | undefined> => {
    const wanted = wantedOf(resource, served);
    if (wanted === undefined) return undefined;
    const { uid, schema, stage } = wanted;
    const held = served.heldSchemas.get(uid);
    if (held !== undefined && "found" in held) return { schema, found: held.found };
    const followed = await follow(wanted, orders);
    if (typeof followed === "object") return { schema, ...foundIn(followed, stage) };
    if (served.rollout !== "programmed") return undefined;
    const isNeeded = stage !== "live" || followed === "overtaken" || isDue(resource, wanted, now());
    if (isNeeded) await known.order(wanted, orders);
    return { schema };
  };

  /** Undefined where the schema of the spec stands nowhere in what is published. */
  const wantedOf = (resource: ApiResource, { objects, config }: ServedProject): CheckOrder | undefined => {
    const { uid, generation = 0 } = resource.metadata;
    const name = resourceNameOf(resource);
    const served = config?.resources.get(name);
    const schema = digestOf(resource.spec.schema);
    const stage = served?.uid === uid ? stageOf(schema, served) : undefined;
    if (stage === undefined) return undefined;
    const migration = stage !== "live" && served?.migration && { migration: computedDigest(served.migration) };
    return { project: objects.ref, resource: name, uid, schema, ...migration, stage, generation };
  };

  /** What the order that is wanted says, if it was given. */
  const follow = async (wanted: CheckOrder, orders: CheckOrders): Promise<CheckState | "none" | "overtaken"> => {
    const check = await known.of(wanted.uid, orders);
    if (check === undefined) return "none";
    const state = await known.stateOf(check, orders);
    if (check.schema === wanted.schema) return isAnswer(check, state, wanted) ? state : "overtaken";
    await known.forget(check, orders);
    return "none";
  };

  const stageOf = (schema: string, config: ResourceConfig): CheckStage | undefined => {
    if (digestOf(config.schema) === schema) return "live";
    if (config.nextSchema === undefined || digestOf(config.nextSchema) !== schema) return undefined;
    return config.nextSchemaBinds === true ? "final" : "look";
  };

  const isAbout = ({ schema }: KnownCheck, resource: ApiResource): boolean =>
    declaresCheck(resource) && digestOf(resource.spec.schema) === schema;

  /** Whether it isn't wanted any more, or was said. */
  const isOver = (check: KnownCheck, state: CheckState, resource: ApiResource | undefined): boolean => {
    if (resource === undefined || !isAbout(check, resource)) return true;
    if (state.state !== "done") return state.state === "lost";
    const mayEnd = check.stage !== "look" && refusalIn(check, state) === undefined;
    return mayEnd && isSaid(check, state.result, resource);
  };

  const followAll = async (checks: readonly KnownCheck[], orders: CheckOrders): Promise<void> => {
    const states = await orders.statesOf(checks.map(({ id }) => id));
    const before = ended;
    ended = new Set(checks.map(({ id }) => id).filter((id) => states.get(id)?.state === "done"));
    for (const check of checks) {
      const state = states.get(check.id) ?? { state: "lost" };
      if (isOver(check, state, resourceOf(check.key, check.uid))) await known.forget(check, orders);
      const isNew = ended.has(check.id) && !before.has(check.id);
      // One that Redis has lost is ordered anew.
      if (isNew || state.state === "lost" || isDueAgain(check, state, now())) enqueue(check.key);
    }
  };

  return {
    heldSchemas: createHeldSchemas({ known, digestOf, now }),
    async reportsOf(served, orders) {
      const found = new Map<string, CheckReport>();
      for (const resource of served.objects.resources) {
        if (!declaresCheck(resource) || isDeleting(resource)) continue;
        const report = await reportOf(resource, served, orders);
        if (report !== undefined) found.set(resource.metadata.uid, report);
      }
      return found;
    },
    async refresh() {
      const orders = openOrders();
      const checks = orders === undefined ? [] : await known.all(orders);
      if (orders !== undefined && checks.length > 0) await followAll(checks, orders);
    },
    onSessionBegun: () => known.readAgain(),
  };
}

function declaresCheck({ spec }: ApiResource): boolean {
  return spec.schemaChange?.storedObjects !== undefined;
}

/** Another schema may have been checked within the same second. */
function isSaid({ schema }: KnownCheck, { endedAt }: CheckResult, resource: ApiResource): boolean {
  const reported = reportedCheck(resource.status);
  return reported?.schema === schema && reported.checkedAt === rfc3339(endedAt);
}

/**
 * Whether this order is the one that is wanted. The last check of a schema before it was live is
 * one of the live schema, too; one that is live without, or although some objects break it, is
 * checked anew.
 */
function isAnswer(
  check: KnownCheck,
  state: CheckState,
  { stage, generation }: Pick<CheckOrder, "stage" | "generation">,
): boolean {
  if (stage !== "live") return check.stage === stage && check.generation === generation;
  const isClean = state.state === "done" && state.result.invalid === 0;
  return check.stage === "live" || (check.stage === "final" && isClean);
}

/** What is found of a schema that isn't live is said once it has been decided upon. */
function foundIn(state: CheckState, stage: CheckStage): Pick<CheckReport, "found"> {
  return stage === "live" && state.state === "done" ? { found: state.result } : {};
}

function isDue(resource: ApiResource, wanted: CheckOrder, now: number): boolean {
  const reported = reportedCheck(resource.status);
  if (reported === undefined || !stillStands(reported, wanted)) return true;
  return reported.invalid > 0 && now - Date.parse(reported.checkedAt) >= againMs;
}

/** A pass meets the same schemas as the one before. */
function rememberedDigests(): (schema: JsonObject) => string {
  const digests = new WeakMap<JsonObject, string>();
  return (schema) => {
    const remembered = digests.get(schema) ?? computedDigest(schema);
    digests.set(schema, remembered);
    return remembered;
  };
}
