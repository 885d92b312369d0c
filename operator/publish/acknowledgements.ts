// What the replicas have acknowledged, read often while somebody waits for it and now and then
// otherwise. While Redis is away the last reading stands, and nothing new is programmed; before the
// first one everything waits.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { QuotaUses } from "../../core/config/quota-uses.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { WantedKeys } from "../../core/config/wanted-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type Monotonic, pauseUnlessAborted, systemMonotonic, type Timers } from "../../core/timers.ts";
import { type Availability, availabilityOf, type Liveness, livenessOf } from "./availability.ts";
import { createQuotaAggregator, type QuotaAggregator, type UnreadableUsage } from "./quota-aggregator.ts";
import { liveMs, liveReplicas, type ReplicaState } from "./replicas.ts";

/** `programmed` = every live replica can no longer serve anything older than the revision. */
export type RolloutState = "programmed" | "waiting" | "no_replicas";

export interface ReplicaRefusal {
  /**
   * `resource:<name>`, `rootkey:<name>`, `issuer:<name>`, `user:<hash>`, `key:<sha256>`, `project`,
   * `signing`.
   */
  readonly field: string;
  readonly reason: string;
}

export interface Acknowledgements {
  /** As of the last look. */
  rolloutOf(revision: number): RolloutState;
  /**
   * Whether a live replica serves the project with this revision. Unlike the others, it forgets a
   * look once that is too old.
   */
  availabilityOf(ref: ProjectRef, revision: number): Availability;
  /** Likewise, of all projects together. */
  liveness(): Liveness;
  /** Fields of the project that some live replica can't use. */
  refusalsOf(ref: ProjectRef): readonly ReplicaRefusal[];
  /** Names of indexes that some live replica is building, by resource. */
  buildingOf(ref: ProjectRef): ReadonlyMap<string, readonly string[]>;
  /** What is being built, by project. */
  building(): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /**
   * Keys of external issuers that some live replica met and does not have; none once a look is too
   * old.
   */
  wantedKeys(): readonly WantedKeys[];
  /**
   * How much of its quotas each project uses, by `<namespace>/<name>`; none of which no live
   * replica says so.
   */
  quotaUsages(): ReadonlyMap<string, QuotaUses>;
  /** What of that statuses report at once, in a form that can be compared. */
  quotaStates(): ReadonlyMap<string, string>;
  /**
   * Resolves when the revision is programmed, or with what holds after `withinMs`. Looks every 25
   * ms meanwhile.
   */
  awaitRollout(revision: number, withinMs: number, signal?: AbortSignal): Promise<RolloutState>;
  /** Names of the projects of which some live replica can't use a field. */
  refusedProjects(): ReadonlySet<string>;
  /** How many replicas are live, and how many fields they refuse, together. */
  figures(): { readonly live: number; readonly refusals: number };
  stop(): void;
}

export type LookObservation =
  | { readonly kind: "looked" }
  /** The last look stands. */
  | { readonly kind: "failed"; readonly error: unknown }
  /** Nothing in these fields of its acknowledgement counts. */
  | { readonly kind: "unreadable"; readonly replica: string; readonly fields: readonly string[] }
  /** What the replica says of how much these projects use does not count. */
  | ({ readonly kind: "unreadableUsage" } & UnreadableUsage)
  /** How much projects use could not be read: the former figures stand. */
  | { readonly kind: "usageFailed"; readonly error: unknown };

export interface AcknowledgementsDeps {
  readonly redisClient: RedisClient;
  readonly timers: Timers;
  readonly monotonic?: Monotonic;
  /**
   * Called after a look that saw something else than the one before, and when the last one has
   * become too old.
   */
  readonly onChange?: () => void;
  /** Called with every look, and before it of what could not be read. */
  readonly observe?: (observation: LookObservation) => void;
}

const eagerMs = 25;
const idleMs = 1_000;
/** Between two looks at what projects use. */
const usesMs = 10_000;

/**
 * What the last reading found. It stands for what replicas have acknowledged, however old it is;
 * for what they serve now only as long as each heartbeat of it may still count.
 */
class LatestReplicas {
  readonly #monotonic: Monotonic;
  #replicas: readonly ReplicaState[] | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #liveness: Liveness = "unknown";

  constructor(monotonic: Monotonic) {
    this.#monotonic = monotonic;
  }

  set(replicas: readonly ReplicaState[]): void {
    this.#replicas = replicas;
    this.#readAt = this.#monotonic();
  }

  /**
   * Undefined until Redis has answered once: not to know of any is not the same as that there is
   * none.
   */
  all(): readonly ReplicaState[] | undefined {
    return this.#replicas;
  }

  /** Undefined when nothing is known of now. */
  live(): readonly ReplicaState[] | undefined {
    return this.#monotonic() - this.#readAt > liveMs ? undefined : this.#replicas;
  }

  liveness(): Liveness {
    return livenessOf(this.live());
  }

  /** Whether the liveness is another one than when this was called last. */
  hasTurned(): boolean {
    const before = this.#liveness;
    this.#liveness = this.liveness();
    return this.#liveness !== before;
  }
}

export function createAcknowledgements(deps: AcknowledgementsDeps): Acknowledgements {
  const { redisClient, timers, monotonic = systemMonotonic, onChange, observe = () => undefined } = deps;
  const quotas = createQuotaAggregator(redisClient, monotonic);
  let usesAt = Number.NEGATIVE_INFINITY;
  const latest = new LatestReplicas(monotonic);
  let seen = "";
  let quotaText = "";
  let stopped = false;
  let stopTimer: (() => void) | undefined;
  /** One look at a time, for all callers. */
  let looking: Promise<void> | undefined;

  const lookAtReplicas = async (): Promise<readonly ReplicaState[]> => {
    const found = await liveReplicas(redisClient);
    if (monotonic() - usesAt < usesMs) return found;
    usesAt = monotonic();
    await readUses(quotas, found, (observation) => {
      if (!stopped) observe(observation);
    });
    quotaText = JSON.stringify([...quotas.quotaStates()]);
    return found;
  };

  const look = (): Promise<void> => {
    looking ??= lookAtReplicas()
      .then(
        (found) => {
          latest.set(found);
          for (const { replica, unreadable } of found) {
            if (unreadable.length > 0) observe({ kind: "unreadable", replica, fields: unreadable });
          }
          observe({ kind: "looked" });
          const now = JSON.stringify(found) + quotaText;
          const isNews = latest.hasTurned() || now !== seen;
          seen = now;
          if (isNews && !stopped) onChange?.();
        },
        (error: unknown) => {
          if (stopped) return;
          observe({ kind: "failed", error });
          if (latest.hasTurned()) onChange?.();
        },
      )
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  const idle = (): void => {
    if (stopped) return;
    stopTimer = timers.after(idleMs, () => void look().then(idle));
  };
  void look().then(idle);

  const rolloutOf = (revision: number): RolloutState => {
    const replicas = latest.all();
    if (replicas === undefined) return "waiting";
    if (replicas.length === 0) return "no_replicas";
    return replicas.every((replica) => replica.revision >= revision) ? "programmed" : "waiting";
  };

  const refusals = () => (latest.all() ?? []).flatMap((replica) => replica.refusals);

  const building = () => buildingByProject(latest.all() ?? []);

  return {
    rolloutOf,
    liveness: () => latest.liveness(),
    availabilityOf: (ref, revision) => availabilityOf(latest.live(), keyOfProject(ref), revision),
    building,
    wantedKeys: () => (latest.live() ?? []).flatMap((replica) => replica.wantedKeys),
    quotaUsages: quotas.quotaUsages,
    quotaStates: quotas.quotaStates,
    buildingOf: (ref) => building().get(keyOfProject(ref)) ?? new Map(),
    refusalsOf(ref) {
      const project = keyOfProject(ref);
      return refusals().filter((refusal) => refusal.project === project);
    },
    async awaitRollout(revision, withinMs, signal) {
      const over = new AbortController();
      const end = (): void => over.abort();
      const stopLate = timers.after(withinMs, end);
      signal?.addEventListener("abort", end, { once: true });
      if (signal?.aborted) end();
      const ended = new Promise<void>((resolve) => {
        over.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      // However slow Redis is, the caller goes on in time.
      await Promise.race([look(), ended]);
      // Without a live replica there is nothing to wait for: a replica that starts reads the newest
      // revision.
      while (rolloutOf(revision) === "waiting" && !over.signal.aborted && !stopped) {
        if (await pauseUnlessAborted(timers, eagerMs, over.signal)) await Promise.race([look(), ended]);
      }
      stopLate();
      signal?.removeEventListener("abort", end);
      return rolloutOf(revision);
    },
    refusedProjects: () => new Set(refusals().map(({ project }) => project)),
    figures: () => ({ live: latest.all()?.length ?? 0, refusals: refusals().length }),
    stop() {
      stopped = true;
      stopTimer?.();
    },
  };
}

/** Nothing waits for it: where it fails the former reading stays. */
async function readUses(
  quotas: QuotaAggregator,
  replicas: readonly ReplicaState[],
  observe: (observation: LookObservation) => void,
): Promise<void> {
  try {
    const unreadable = await quotas.read(replicas.map(({ replica }) => replica));
    for (const each of unreadable) observe({ kind: "unreadableUsage", ...each });
  } catch (error) {
    observe({ kind: "usageFailed", error });
  }
}

/** What one replica builds, another may not know to be building. */
function buildingByProject(replicas: readonly ReplicaState[]): Map<string, Map<string, readonly string[]>> {
  const found = new Map<string, Map<string, readonly string[]>>();
  for (const { project, resource, indexes } of replicas.flatMap((replica) => replica.building)) {
    const resources = found.get(project) ?? new Map<string, readonly string[]>();
    const names = new Set([...(resources.get(resource) ?? []), ...indexes]);
    found.set(project, resources.set(resource, [...names].sort()));
  }
  return found;
}
