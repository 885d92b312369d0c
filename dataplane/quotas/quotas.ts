// The usage of every project that has a quota. Writes keep it current. Projects without writes are
// refreshed now and then, for metrics and reports. The bytes of collections that are older than
// their quota are counted in the background and in small steps, which replicas share.

import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { type QuotaUses, quotaKinds } from "../../core/config/quota-uses.ts";
import type { ProjectQuota, ProjectRef } from "../../core/config/types.ts";
import { createNamedTasks } from "../../core/named-tasks.ts";
import { pause, repeatedly, systemTimers } from "../../core/timers.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { DataStore } from "../store/port.ts";
import { type CollectionRef, nameOfCollection } from "../store/ports/refs.ts";
import type { ByteCounts, Sizes } from "../store/ports/sizes.ts";
import { createProjectUsage, type ProjectUsage } from "./project-usage.ts";
import { quotaStore } from "./quota-store.ts";
import { type Amounts, createUnservedAmounts, plus, readAmounts } from "./stored-amounts.ts";

export interface UsageReport {
  readonly project: ProjectRef;
  readonly quotas: QuotaUses;
}

export interface Quotas {
  /** The store for the project's writes: the store itself where there is no quota. */
  storeFor(project: LiveProject): DataStore;
  /** Use of every project with a quota, as this replica knows it. */
  reports(): readonly UsageReport[];
  /** Ends the work in the background. */
  close(): Promise<void>;
}

interface QuotasDeps {
  readonly store: DataStore & Sizes & ByteCounts;
  readonly clock: Clock;
  readonly directory: Pick<Directory, "loaded">;
  /** How often projects are searched for some to refresh, 5,000 by default. */
  readonly quotaRoundMs?: number | undefined;
  /** Called when a round failed; the next one follows. */
  readonly onFailed: (error: unknown) => void;
}

/** The next round refreshes a project whose usage is older. */
const idleMs = 60_000;
/** Between two steps of counting bytes: requests come first. */
const countingPauseMs = 2;

interface Guarded {
  readonly usage: ProjectUsage;
  /** As of the last request; what the store is asked for follows it. */
  project: LiveProject;
  quota: ProjectQuota;
  store: DataStore;
}

export function createQuotas({ store, clock, directory, quotaRoundMs = 5_000, onFailed }: QuotasDeps): Quotas {
  const guarded = new Map<string, Guarded>();
  const counting = createNamedTasks();
  let isClosed = false;

  const countBytes = async (collection: CollectionRef): Promise<void> => {
    while (!isClosed && (await store.countBytes(collection)) === "more") await pause(systemTimers, countingPauseMs);
  };

  const unserved = createUnservedAmounts(store, clock);

  const read = async (project: LiveProject): Promise<Amounts> => {
    const [served, kept] = await Promise.all([readAmounts(store, project), unserved(project)]);
    for (const collection of [...served.uncounted, ...kept.uncounted]) {
      // After a failure, the next reading of amounts begins it again.
      counting.start(nameOfCollection(collection), () => countBytes(collection).catch(() => undefined));
    }
    return plus(served.amounts, kept.amounts);
  };

  const make = (project: LiveProject, quota: ProjectQuota): Guarded => {
    const usage = createProjectUsage(() => read(made.project), clock);
    const made: Guarded = { usage, project, quota, store: quotaStore(store, usage, quota) };
    guarded.set(keyOfProject(project.config), made);
    return made;
  };

  const guardOf = (project: LiveProject, quota: ProjectQuota): Guarded => {
    const known = guarded.get(keyOfProject(project.config)) ?? make(project, quota);
    if (known.project !== project) {
      Object.assign(known, { project, quota, store: quotaStore(store, known.usage, quota) });
      // Something else may be to be counted now.
      known.usage.forget();
    }
    return known;
  };

  const round = async (signal: AbortSignal): Promise<void> => {
    const limited = directory.loaded().filter(({ config }) => config.limits.quota !== undefined);
    forgetOthers(guarded, limited);
    for (const project of limited) {
      if (signal.aborted) return;
      const { usage } = guardOf(project, project.config.limits.quota ?? {});
      // Without the store there is nothing new to say.
      await usage.refreshAfter(idleMs).catch(() => undefined);
    }
  };
  const rounds = repeatedly(
    systemTimers,
    async (signal) => {
      await round(signal).catch(onFailed);
      return quotaRoundMs;
    },
    quotaRoundMs,
  );

  return {
    storeFor(project) {
      const { quota } = project.config.limits;
      return quota === undefined ? store : guardOf(project, quota).store;
    },
    reports: () => [...guarded.values()].flatMap(reportOf),
    async close() {
      isClosed = true;
      await rounds.stop();
      await counting.idle();
    },
  };
}

function reportOf({ project, quota, usage }: Guarded): readonly UsageReport[] {
  const amounts = usage.amounts();
  if (amounts === undefined) return [];
  const { namespace, name } = project.config;
  const used = quotaKinds.flatMap((kind) => {
    const limit = quota[kind];
    return limit === undefined ? [] : [[kind, { used: amounts[kind], limit }] as const];
  });
  return [{ project: { namespace, name }, quotas: Object.fromEntries(used) }];
}

/**
 * Other replicas may write to a project that is not loaded here: what is known of it becomes wrong.
 */
function forgetOthers(guarded: Map<string, Guarded>, projects: readonly LiveProject[]): void {
  const names = new Set(projects.map(({ config }) => keyOfProject(config)));
  for (const name of guarded.keys()) if (!names.has(name)) guarded.delete(name);
}
