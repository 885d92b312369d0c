// Has stored objects checked after the schema of an ApiResource has changed, where it declares
// that: ordered once no replica serves an older schema, so that whatever is written meanwhile meets
// it; followed until a replica has found how many don't; forgotten once the status says so. What is
// ordered is kept in Redis, and what was found in the status, so that a new leader goes on.
//
// With `Refuse` the check comes first: the schema is published as `nextSchema`, which writes have
// to meet as well, and what was found decides whether it is live. The order of a schema that was
// refused stands: it says why. Now and then a probe looks whether another try is worth it, which
// binds nobody: clients that write by the former schema are not to be refused every ten minutes.

import { type CheckFigures, type CheckResult, objectChecks, schemaDigest } from "../../core/config/object-check.ts";
import type { CompiledProject, JsonObject, ResourceConfig } from "../../core/config/types.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import { resourceNameOf } from "../model/kinds.ts";
import type { ApiResource } from "../model/objects.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { reportedCheck } from "../model/reported-check.ts";
import type { RolloutState } from "../publish/acknowledgements.ts";
import type { CheckOrders, CheckState } from "../publish/replica-orders.ts";
import { createHeldSchemas, type FindHeldSchemas, isRefusal, mayProbe } from "./held-schemas.ts";
import { type KnownCheck, type KnownChecks, KnownOrders } from "./known-orders.ts";

/** What is known of the stored objects of one ApiResource. */
export interface CheckReport {
  /** Of the schema of the spec. */
  readonly schema: string;
  /** Newly found; absent = what the status says of this schema stands. */
  readonly found?: CheckFigures & { readonly endedAt?: number };
}

/** By UID; without those whose newest schema is not served by every replica. */
export type CheckReports = ReadonlyMap<string, CheckReport>;

export interface ServedProject {
  readonly objects: ProjectObjects;
  readonly config: CompiledProject | undefined;
  readonly rollout: RolloutState;
}

export interface ObjectChecks {
  /** Before it is decided what to serve. */
  readonly heldSchemas: FindHeldSchemas;
  /** Orders what is missing. Asks nothing where no ApiResource declares a check. */
  reportsOf(served: ServedProject, orders: CheckOrders): Promise<CheckReports>;
  /** Looks at what replicas have found, and has the statuses follow. For a timer. */
  refresh(): Promise<void>;
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

/** Between two reports of one check that goes on. */
const progressMs = 15_000;
/** After it, objects that were found to be invalid are checked again. */
const againMs = 3_600_000;

export function createObjectChecks({ now, orders: openOrders, resourceOf, enqueue }: ObjectChecksDeps): ObjectChecks {
  const digestOf = rememberedDigests();
  const known: KnownChecks = new KnownOrders(objectChecks.what);
  const reports = createReportTimes(now);

  const reportOf = async (resource: ApiResource, served: ServedProject, orders: CheckOrders) => {
    const { uid, generation = 0 } = resource.metadata;
    const name = resourceNameOf(resource);
    const config = served.config?.resources.get(name);
    if (config?.uid !== uid) return undefined;
    const schema = digestOf(resource.spec.schema);
    const place = placeOf(schema, config);
    const followed = await follow(resource, { schema, place }, orders);
    if (typeof followed === "object") return { schema, ...followed };
    if (place === undefined || served.rollout !== "programmed") return undefined;
    if (place === "live" && followed === "none" && !isDue(resource, schema, now())) return { schema };
    const order = { project: served.objects.ref, resource: name, uid, schema, generation };
    await known.order({ ...order, ...(place === "next" && { isNext: true as const }) }, orders);
    return { schema };
  };

  /** Where the schema stands in what is published; undefined = nowhere. */
  const placeOf = (schema: string, config: ResourceConfig): Place | undefined => {
    if (digestOf(config.schema) === schema) return "live";
    const binding = config.nextSchemaBinds === true ? config.nextSchema : undefined;
    return binding !== undefined && digestOf(binding) === schema ? "next" : undefined;
  };

  /** What the order of this schema says, if there is one. */
  const follow = async (
    resource: ApiResource,
    { schema, place }: { readonly schema: string; readonly place: Place | undefined },
    orders: CheckOrders,
  ): Promise<Pick<CheckReport, "found"> | "none" | "overtaken"> => {
    const check = await known.of(resource.metadata.uid, orders);
    if (check === undefined) return "none";
    const state = await known.stateOf(check, orders);
    if (check.schema !== schema) {
      await known.forget(check, orders);
      return "none";
    }
    // It is live without its check, or although some objects break it.
    const isClean = state.state === "done" && state.result.invalid === 0;
    if (place === "live" && check.isNext === true && !isClean) return "overtaken";
    return foundIn(state, { resource, check, place });
  };

  const isAbout = ({ schema }: KnownCheck, resource: ApiResource): boolean =>
    declaresCheck(resource) && digestOf(resource.spec.schema) === schema;

  const endOf = (check: KnownCheck, state: CheckState): End => {
    const resource = resourceOf(check.key, check.uid);
    if (resource === undefined || !isAbout(check, resource)) return "forgotten";
    if (state.state === "lost") return "lost";
    if (state.state === "open" || !isSaid(check, state.result, resource)) return "open";
    if (!isRefusal(check, state)) return "forgotten";
    return mayProbe(state.result, now()) ? "probed" : "refused";
  };

  const followAll = async (checks: readonly KnownCheck[], orders: CheckOrders): Promise<void> => {
    const states = await orders.statesOf(checks.map(({ id }) => id));
    for (const check of checks) {
      const state = states.get(check.id) ?? { state: "lost" };
      const end = endOf(check, state);
      if (end === "forgotten" || end === "lost") await known.forget(check, orders);
      const isNews = end === "open" && reports.isDue(check, state);
      if (isNews || end === "lost" || end === "probed") enqueue(check.key);
    }
    reports.keepOnly(checks);
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
  };
}

function declaresCheck({ spec }: ApiResource): boolean {
  return spec.schemaChange?.storedObjects !== undefined;
}

type Place = "live" | "next";

/** `forgotten`: it was said, or isn't wanted. A `lost` one is ordered anew. */
type End = "open" | "forgotten" | "lost" | "refused" | "probed";

/** Another schema may have been checked within the same second. */
function isSaid({ schema }: KnownCheck, { endedAt }: CheckResult, resource: ApiResource): boolean {
  const reported = reportedCheck(resource.status);
  return reported?.schema === schema && reported.checkedAt === rfc3339(endedAt);
}

interface FoundContext {
  readonly resource: ApiResource;
  readonly check: KnownCheck;
  readonly place: Place | undefined;
}

/**
 * An earlier result of the same schema stands until this one has ended. What is to be decided upon
 * in the next pass is said with that: a schema that is still to become live, or to be tried again.
 */
function foundIn(state: CheckState, { resource, check, place }: FoundContext): Pick<CheckReport, "found"> {
  if (state.state === "done") {
    const isUndecided = place === "next" || (check.isProbe === true && state.result.invalid === 0);
    if (isUndecided) return {};
    return { found: state.result };
  }
  const reported = reportedCheck(resource.status);
  const isChecked = reported?.schema === check.schema && reported.checkedAt !== undefined;
  if (isChecked || state.state !== "open" || state.figures === undefined) return {};
  return { found: state.figures };
}

function isDue(resource: ApiResource, schema: string, now: number): boolean {
  const reported = reportedCheck(resource.status);
  if (reported?.schema !== schema || reported.checkedAt === undefined) return true;
  return (reported.invalid ?? 0) > 0 && now - Date.parse(reported.checkedAt) >= againMs;
}

interface ReportTimes {
  /** Whether a status should follow now: at the end at once, and else now and then. */
  isDue(check: KnownCheck, state: CheckState): boolean;
  keepOnly(checks: readonly KnownCheck[]): void;
}

function createReportTimes(now: () => number): ReportTimes {
  const last = new Map<string, { readonly at: number; readonly state: CheckState["state"] }>();
  return {
    isDue({ id }, state) {
      if (state.state === "open" && state.figures === undefined) return false;
      const before = last.get(id);
      if (before?.state === state.state && now() - before.at < progressMs) return false;
      last.set(id, { at: now(), state: state.state });
      return true;
    },
    keepOnly(checks) {
      const ids = new Set(checks.map(({ id }) => id));
      for (const id of last.keys()) if (!ids.has(id)) last.delete(id);
    },
  };
}

/** A pass meets the same schemas as the one before. */
function rememberedDigests(): (schema: JsonObject) => string {
  const digests = new WeakMap<JsonObject, string>();
  return (schema) => {
    const remembered = digests.get(schema) ?? schemaDigest(schema);
    digests.set(schema, remembered);
    return remembered;
  };
}
