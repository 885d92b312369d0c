// One operator process, put together: the API server, caches that are kept warm whichever process
// leads, the admin port, and, while this process holds the Lease, a leader's session. When
// leadership is lost the session ends, and the process stands by again.

import type { Clock } from "../../core/clock.ts";
import type { Followed } from "../../core/followed-file.ts";
import type { FollowedToken } from "../../core/http/admin-port-access.ts";
import { describeError } from "../../core/log/describe-error.ts";
import type { Logger } from "../../core/log/logger.ts";
import { createTrust } from "../../core/redis/authorities.ts";
import { systemMonotonic, systemTimers } from "../../core/timers.ts";
import { createFollowedGuardRails, type FollowedGuardRails } from "../guard-rails/rules.ts";
import { clusterLimits, type FetchLimits } from "../issuers/address-rules.ts";
import type { KubeApi } from "../kube/api.ts";
import { type ConnectedApi, createRefusedCredentials } from "../kube/connect.ts";
import type { CallObserved } from "../kube/http-transport.ts";
import { createElector } from "../lead/elector.ts";
import { leaseName } from "../model/controller.ts";
import { createAdminServer } from "../observe/admin-server.ts";
import { createAuditLog } from "../observe/audit-log.ts";
import { createObjectCounts, nothingRetained } from "../observe/figures.ts";
import { createOperatorMetrics, type OperatorMetrics } from "../observe/metrics.ts";
import { createInterruptionLog } from "../observe/repeated-failures.ts";
import { noStoredObjects } from "../publish/stored-objects.ts";
import { type CacheListener, type Caches, type CachesOptions, createCaches } from "../watch/caches.ts";
import { followAdminTokenSecret } from "./admin-token.ts";
import { logLead } from "./lead-log.ts";
import { runLeaderLoop, SessionStuck } from "./leader-loop.ts";
import type { LeaderSession } from "./leader-session.ts";
import type { OperatorContext, OperatorSettings } from "./operator-context.ts";

export interface OperatorOptions {
  readonly settings: OperatorSettings;
  /** Connects to the API server; `observe` is called for every call. */
  readonly connect: (observe: (call: CallObserved) => void) => Promise<ConnectedApi>;
  readonly host: string;
  readonly adminPort: number;
  /** What metrics ask for; absent = what `adminTokenSecret` says. */
  readonly adminToken: FollowedToken | undefined;
  /** Secret of the own namespace with what metrics ask for; absent = nothing. */
  readonly adminTokenSecret: string | undefined;
  /** What fetching from external issuers is limited by; absent = as in a cluster. */
  readonly fetchLimits?: FetchLimits;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface RunningOperator {
  readonly adminUrl: string;
  /**
   * Resolves when this process can't come to lead any more, and is to end: its container starts
   * again.
   */
  readonly failed: Promise<void>;
  /** Ends the work under way, gives the Lease back, and closes everything. */
  close(): Promise<void>;
}

/**
 * A kind that has been silent for so long although others are active can only be mended by a
 * restart.
 */
const silentMs = 600_000;
const activeMs = 120_000;

export async function startOperator(options: OperatorOptions): Promise<RunningOperator> {
  const { settings, clock, logger, fetchLimits = clusterLimits } = options;
  const timers = systemTimers;
  const monotonic = systemMonotonic;
  const random = Math.random;
  let session: LeaderSession | undefined;
  const counts = createObjectCounts();
  const metrics = createOperatorMetrics({
    ...counts,
    clock,
    leaseName: leaseName,
    workers: settings.workers,
    leads: () => session !== undefined,
    informers: () => caches.informers(),
    queue: (stage) => session?.figures(stage),
    replicas: () => session?.replicas(),
    publishHealth: () => session?.publishHealth(),
    storedObjects: () => session?.usage.storedObjects() ?? noStoredObjects.counts,
    retainedData: () => session?.retainedData.figures() ?? nothingRetained,
    dataLost: () => session?.dataLost() ?? false,
    redisServers: () => session?.redisLooks.servers() ?? [],
    backups: () => session?.redisLooks.backups(),
    oldestRevocationSeconds: () => session?.revocations.oldestSeconds(),
    issuers: () => session?.issuers.figures(),
  });
  const credentials = createRefusedCredentials(metrics.observeCall);
  const { api } = await options.connect(credentials.observe);
  const madeToken = await madeTokenOf(options, api);
  const guardRails = guardRailsOf(settings, logger, () => session?.listener.guardRailsChanged());
  const caches = createCaches({
    reader: api,
    namespaces: settings.watchNamespaces,
    listener: delegate(() => session?.listener),
    timers,
    monotonic,
    random,
    observeObject: counts.change,
    observe: observedBy(metrics, createInterruptionLog(logger, monotonic)),
    ...furtherCacheOptions(settings, guardRails),
  });
  const audit = createAuditLog(logger);
  const tools = { metrics, logger, audit, clock, timers, monotonic, random };
  const trust = createTrust();
  const context: OperatorContext = { settings, api, caches, guardRails, fetchLimits, trust, ...tools };
  const admin = createAdminServer({
    metrics,
    notReady: () => credentials.fault() ?? notReady(caches, guardRails),
    healthy: () => isHealthy(caches),
    token: options.adminToken ?? madeToken,
  });
  const adminUrl = await admin.listen({ host: options.host, port: options.adminPort });
  caches.start();

  const stopping = new AbortController();
  const failed = Promise.withResolvers<void>();
  const elector = createElector({
    ...leaseOf(settings),
    api,
    clock,
    monotonic,
    timers,
    random,
    observe: (observation) => logLead(observation, logger, settings),
  });
  const loop = runLeaderLoop({
    elector,
    context,
    stopping: stopping.signal,
    onSession: (next) => {
      session = next;
    },
  });
  const leading = loop.catch((error: unknown) => {
    if (stopping.signal.aborted) return;
    logLoopFailure(error, logger);
    failed.resolve();
  });

  return {
    adminUrl,
    failed: failed.promise,
    async close() {
      stopping.abort(new Error("the operator was stopped"));
      await leading;
      await caches.stop();
      madeToken?.stop();
      await admin.close();
      await api.close();
    },
  };
}

function observedBy(
  metrics: OperatorMetrics,
  interrupted: ReturnType<typeof createInterruptionLog>,
): CachesOptions["observe"] {
  return (kind) => (observation) => {
    if (observation.what === "failed") metrics.observeInformerError(kind);
    interrupted(kind, observation);
  };
}

async function madeTokenOf(
  { settings: { namespace }, adminTokenSecret: name, logger }: OperatorOptions,
  api: KubeApi,
): Promise<Followed<Buffer> | undefined> {
  return name === undefined ? undefined : await followAdminTokenSecret({ api, secret: { namespace, name }, logger });
}

function guardRailsOf(
  { guardRails: name }: OperatorSettings,
  logger: Logger,
  onChange: () => void,
): FollowedGuardRails | undefined {
  return name === undefined ? undefined : createFollowedGuardRails(name, logger, onChange);
}

function furtherCacheOptions(
  { namespace, guardRails: name }: OperatorSettings,
  guardRails: FollowedGuardRails | undefined,
): Pick<CachesOptions, "guardRails"> {
  return {
    ...(name !== undefined && guardRails && { guardRails: { configMap: { namespace, name }, sink: guardRails.sink } }),
  };
}

/** A standby acts on no event: the next leader reconciles everything. */
function delegate(listener: () => CacheListener | undefined): CacheListener {
  return {
    objectChanged: (object, before, listed) => listener()?.objectChanged(object, before, listed),
    objectRemoved: (object) => listener()?.objectRemoved(object),
    secretChanged: (secret) => listener()?.secretChanged(secret),
    secretRemoved: (secret) => listener()?.secretRemoved(secret),
  };
}

function leaseOf(settings: OperatorSettings) {
  const { namespace, identity, leaseDurationMs } = settings;
  return { namespace, name: leaseName, identity, leaseDurationMs };
}

function notReady(caches: Caches, guardRails: FollowedGuardRails | undefined): string | undefined {
  return caches.synced() ? guardRails?.fault() : "the cluster's objects are not loaded yet";
}

function isHealthy(caches: Caches): boolean {
  // Without its definition a kind is silent, which a restart can't mend.
  const served = caches.informers().filter(({ isMissing }) => !isMissing);
  const idle = served.map(({ idleMs }) => idleMs ?? 0);
  return Math.max(...idle) < silentMs || Math.min(...idle) > activeMs;
}

function logLoopFailure(error: unknown, logger: Logger): void {
  const isStuck = error instanceof SessionStuck;
  logger.error(isStuck ? "Leader session did not stop; exiting" : "Leader loop failed; exiting", {
    error: describeError(error),
  });
}
