// Composes the data plane: authentication, preparer, pipeline, observation, and two ports.

import type { FastifyInstance } from "fastify";
import { type Clock, systemClock } from "../core/clock.ts";
import type { BuildingIndexes } from "../core/config/building-indexes.ts";
import { keyOfProject } from "../core/config/config-keys.ts";
import type { WantedKeys } from "../core/config/wanted-keys.ts";
import type { FollowedToken } from "../core/http/admin-port-access.ts";
import { errorName } from "../core/log/describe-error.ts";
import { createLogger, type Fields, type Logger, type LogLevel } from "../core/log/logger.ts";
import type { PasswordCost } from "../core/password/hash-password.ts";
import { pause, systemTimers, type Timers } from "../core/timers.ts";
import { createFairShareLimiter } from "./admission/fair-share.ts";
import { createMemoryBudget, memoryLimits } from "./admission/memory-budgets.ts";
import { createAnonymousWrites, createRateLimits, type ObserveLimited } from "./admission/rate-limits.ts";
import { withLocalFallback } from "./admission/shared-bucket.ts";
import { createAuthentication } from "./authenticate/create-authentication.ts";
import { createStreams, type Streams } from "./changes/streams.ts";
import { createUnreadRoom } from "./changes/unread-room.ts";
import type { Directory } from "./config/directory.ts";
import { closeWithin } from "./http/close-server.ts";
import { emptyContext, type HttpResponse, type IncomingRequest } from "./http/exchange.ts";
import { createPage } from "./http/page.ts";
import {
  createHttpServer,
  type HttpServerOptions,
  maxWaitingConnections,
  type ObserveEnding,
  type Serve,
} from "./http/server.ts";
import { createScanSemaphore } from "./objects/list/filter-and-sort.ts";
import { createObjectIds } from "./objects/object-ids.ts";
import { type CollectionPreparer, createCollectionPreparer } from "./objects/prepare-collection.ts";
import { type AdminDeps, type AdminPort, createAdminServer } from "./observe/admin-server.ts";
import { createMetrics, type Metrics } from "./observe/metrics.ts";
import { createAccessLog, createRequestObserver } from "./observe/observe-request.ts";
import { createUsage } from "./observe/usage.ts";
import { createDescriptions } from "./openapi/descriptions.ts";
import { createSignInOffers } from "./openapi/handler.ts";
import { createPlanCache, type PlanCache } from "./operation/plan-cache.ts";
import { createWriteLock } from "./operation/write-lock.ts";
import { type CachedPlan, createPipeline } from "./pipeline.ts";
import { createQuotas, type Quotas } from "./quotas/quotas.ts";
import { publicAddress } from "./route/find-project.ts";
import { hostName } from "./route/request-target.ts";
import { createSessions } from "./sessions/create-sessions.ts";
import type { Store, StoreObservation } from "./store/port.ts";

export interface DataPlaneOptions {
  readonly directory: Directory;
  /** Opened by the caller, who closes it after the data plane; given where to report its calls. */
  readonly store: Store | ((observe: (observation: StoreObservation) => void) => Promise<Store>);
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** The owner of an open port closes it. */
  readonly adminPort: number | AdminPort;
  /** What metrics and usage ask for; absent = nothing. */
  readonly adminToken?: FollowedToken | undefined;
  /** Whether the admin port answers a request, by its Host header; absent = it answers any. */
  readonly isOwnHost?: AdminDeps["isOwnHost"];
  /**
   * Where clients reach the service: origin and path, without a trailing slash. Links and the
   * issuer of tokens begin with it, so all replicas need the same.
   */
  readonly publicUrl?: string;
  readonly trustedProxies?: readonly string[];
  readonly logLevel?: LogLevel;
  readonly writeLog?: (text: string) => void;
  /**
   * Pages that belong to no project, for hosts that no project claims. They come before projects.
   */
  readonly pages?: Pages;
  /** Whether people who load a project's page again stay signed in; false by default. */
  readonly keepsSignIn?: boolean;
  /** Called at the end of each request. */
  readonly onRequestEnded?: ObserveEnding;
  /** Called with keys of external issuers that tokens name and that are missing. */
  readonly wantKeys?: (wanted: WantedKeys) => void;
  /** Milliseconds between two such calls for one issuer; a minute by default. */
  readonly betweenWantsMs?: number;
  readonly clock?: Clock;
  /** Of what waits for keys of issuers, and of what tries again to end sessions. */
  readonly timers?: Timers;
  readonly requestTimeoutMs?: number;
  /**
   * Milliseconds after which an idle connection is closed, 60,000 by default: unread responses take
   * memory. Between two requests Node allows 72,000, unless this is set.
   */
  readonly unreadTimeoutMs?: number;
  /**
   * Milliseconds for which `close` still accepts requests, 0 by default: load balancers need time
   * to notice. Each response then ends its connection.
   */
  readonly drainMs?: number;
  /** How often unused quotas are refreshed, 5,000 by default. */
  readonly quotaRoundMs?: number;
  /** How long `close` waits for requests under way, 10,000 by default; then it cuts them. */
  readonly closeTimeoutMs?: number;
  /** Cost of the stored hashes, where it is not the usual one. */
  readonly passwordCost?: PasswordCost;
}

interface Pages {
  /** Raw request targets that may be for these pages. Every request is tested against it. */
  readonly targets: RegExp;
  /** Undefined where the request is not for these pages. */
  serve(incoming: IncomingRequest): Promise<HttpResponse> | undefined;
}

export interface DataPlane {
  /** Origin of the public port, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly adminUrl: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** For writes of objects that are not requests. */
  readonly preparer: Pick<CollectionPreparer, "prepare">;
  /** Likewise, and how much of them projects use, for the operator's status. */
  readonly quotas: Pick<Quotas, "storeFor" | "reports">;
  /** Which indexes are being built, for the operator's status. */
  buildingIndexes(): readonly BuildingIndexes[];
  /**
   * Reports "not ready", accepts requests for `drainMs` more, completes those under way within
   * `closeTimeoutMs`, then closes everything but a store that the caller opened.
   */
  close(): Promise<void>;
}

type Cleanups = (() => unknown)[];

/** Rejects when it can't start, with nothing left open that it opened. */
export async function startDataPlane(options: DataPlaneOptions): Promise<DataPlane> {
  const cleanups: Cleanups = [];
  try {
    return await openDataPlane(options, cleanups);
  } catch (error) {
    for (const close of cleanups.reverse()) await close();
    throw error;
  }
}

/** Adds to `cleanups` what is to be closed should the start fail. */
async function openDataPlane(options: DataPlaneOptions, cleanups: Cleanups): Promise<DataPlane> {
  const { directory, clock = systemClock, timers = systemTimers } = options;
  const logger = createLogger({ level: options.logLevel ?? "info", clock, write: options.writeLog ?? writeToStderr });
  const metrics = createMetrics({
    configAgeSeconds: () => directory.ageSeconds(),
    projects: () => directory.projects().length,
    keyringFits: () => directory.fit() !== "another_ring",
    usageReports: () => quotas.reports(),
    streams: () => streams.count(),
    storeEngine: () => store.health().engine,
  });
  const opened = typeof options.store === "function" ? await options.store(metrics.observeStore) : undefined;
  const store = opened ?? (options.store as Store);
  cleanups.push(() => opened?.close());

  const issuerBase = options.publicUrl ?? "";
  const { authentication, sessions } = await createCredentials(options, { store, clock, metrics, cleanups });
  const preparer = createCollectionPreparer(store, ({ project, resource }, error) =>
    failuresTo(logger, "Index build failed", { project: keyOfProject(project), resource })(error),
  );
  cleanups.push(preparer.close);
  const usage = createUsage(clock);
  const quotas = createQuotas({ ...options, store, clock, onFailed: failuresTo(logger, "Quota round failed") });
  cleanups.push(quotas.close);
  const lifecycle = { stopping: false };
  const memory = memoryLimits();
  const plans = createPlanCache<CachedPlan>();
  const fairShare = createFairShareLimiter(clock, { maxQueuedWork: memory.connections });
  const room = createUnreadRoom(createMemoryBudget(memory.responses / 2));
  const streams = createStreams({
    ...{ store, clock, timers, fairShare, room },
    onFailure: failuresTo(logger, "Reading changes failed"),
    onRefused: metrics.observeRefusedStream,
    maxStreams: Math.floor(memory.connections / 2),
  });
  const endFollowing = followedByStreams(directory, plans, streams);
  cleanups.push(endFollowing, streams.close);
  const observer = createRequestObserver({ metrics, usage, accessLog: createAccessLog(logger, clock) });

  const pipeline = {
    store,
    directory,
    address: publicAddress(issuerBase),
    authentication,
    sessions,
    ...createLimits(store, clock, metrics.observeLimited),
    preparer,
    scanSemaphore: createScanSemaphore(),
    fairShare,
    lock: createWriteLock(),
    bodyBudget: createMemoryBudget(memory.bodies),
    plans,
    streams,
    room,
    onExportFailed: failuresTo(logger, "Export failed"),
    timers,
    countersOf: observer.countersOf,
    descriptions: createDescriptions(),
    quotas,
    referencePage: createPage("reference", "docs"),
    consolePage: createPage("console", "console"),
    signInOffers: createSignInOffers(options.keepsSignIn),
    clock,
    newId: createObjectIds(clock),
  };
  const server = createServer(options, { pipeline, observer, metrics, memory, lifecycle, logger });
  const admin = createAdminServer({ ...options, store, metrics, usage, quotas, stopping: () => lifecycle.stopping });

  const close = async (drainMs = 0): Promise<void> => {
    lifecycle.stopping = true;
    streams.close();
    await closeInOrder({ ...options, drainMs }, server, [preparer, quotas, sessions, authentication], admin);
    endFollowing();
    await opened?.close();
    logger.flush();
  };
  // If one port is taken, the other one is closed again.
  cleanups.splice(0, cleanups.length, close);
  const { url, adminUrl } = await listenOnBoth(options, server, admin);
  if (issuerBase === "") pipeline.address = publicAddress(url);

  return {
    url,
    adminUrl,
    metrics,
    logger,
    preparer,
    quotas,
    buildingIndexes: preparer.building,
    close: () => close(options.drainMs),
  };
}

interface ServerDeps extends Pick<HttpServerOptions, "memory" | "lifecycle" | "logger"> {
  readonly pipeline: Parameters<typeof createPipeline>[0];
  readonly observer: ReturnType<typeof createRequestObserver>;
  readonly metrics: Metrics;
}

function createServer(
  options: DataPlaneOptions,
  { pipeline, observer, metrics, ...shared }: ServerDeps,
): FastifyInstance {
  const server = createHttpServer({
    ...serving(options, createPipeline(pipeline)),
    observe: followedBy(observer.ended, options.onRequestEnded),
    observeRefusal: observer.refused,
    observeClosed: metrics.observeClosed,
    ...shared,
    trustedProxies: options.trustedProxies ?? [],
    ...(options.requestTimeoutMs !== undefined && { requestTimeoutMs: options.requestTimeoutMs }),
  });
  server.server.setTimeout(options.unreadTimeoutMs ?? 60_000);
  if (options.unreadTimeoutMs !== undefined) server.server.keepAliveTimeout = options.unreadTimeoutMs;
  return server;
}

/** Plans go first: a stream that is checked then is decided again. Returns how to end it. */
function followedByStreams(directory: Directory, plans: PlanCache<CachedPlan>, streams: Streams): () => void {
  return directory.onChange((project) => {
    plans.drop(project);
    streams.checkProject(project);
  });
}

/** A host that a project claims is the project's, whatever the path. */
function serving({ pages, directory }: DataPlaneOptions, serve: Serve): Pick<HttpServerOptions, "serve" | "ownPages"> {
  if (pages === undefined) return { serve };
  const servePages: Serve = async (incoming) => {
    const isClaimed = directory.hostOwner(hostName(incoming.request.host)) !== undefined;
    const response = isClaimed ? undefined : pages.serve(incoming);
    return response === undefined ? serve(incoming) : { context: emptyContext, response: await response };
  };
  return { serve, ownPages: { targets: pages.targets, serve: servePages } };
}

function followedBy(first: ObserveEnding, second: ObserveEnding | undefined): ObserveEnding {
  if (second === undefined) return first;
  return (incoming, ending) => {
    first(incoming, ending);
    second(incoming, ending);
  };
}

interface CredentialDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly cleanups: Cleanups;
}

/** What proves who calls, and the sessions whose tokens it takes. */
async function createCredentials(
  { directory, publicUrl = "", passwordCost, timers, wantKeys, betweenWantsMs }: DataPlaneOptions,
  { store, clock, metrics, cleanups }: CredentialDeps,
) {
  const deps = { directory, store, clock, ...(timers && { timers }) };
  const authentication = await createAuthentication({
    ...deps,
    issuerOf: ({ config }) => `${publicUrl}/${config.namespace}/${config.name}`,
    ...(wantKeys && { wantKeys }),
    ...(betweenWantsMs !== undefined && { betweenWantsMs }),
  });
  cleanups.push(authentication.close);
  const sessions = await createSessions({
    ...deps,
    authentication,
    observe: metrics.observeAuthentication,
    ...(passwordCost && { passwordCost }),
  });
  cleanups.push(sessions.close);
  return { authentication, sessions };
}

/** What both count while a server takes no writes is remembered once. */
function createLimits(store: Store, clock: Clock, observe: ObserveLimited) {
  const buckets = withLocalFallback(store, clock);
  return { anonymousWrites: createAnonymousWrites(buckets), rates: createRateLimits(buckets, clock, observe) };
}

function writeToStderr(text: string): void {
  process.stderr.write(text);
}

async function listenOnBoth(
  { host, port, adminPort }: DataPlaneOptions,
  server: FastifyInstance,
  admin: FastifyInstance,
): Promise<Pick<DataPlane, "url" | "adminUrl">> {
  const url = await server.listen({ host, port, backlog: maxWaitingConnections });
  if (typeof adminPort !== "number") {
    await adminPort.takeOver(admin);
    return { url, adminUrl: adminPort.url };
  }
  return { url, adminUrl: await admin.listen({ host, port: adminPort }) };
}

function failuresTo(logger: Logger, message: string, facts: Fields = {}): (error: unknown) => void {
  return (error) => logger.warn(message, { ...facts, error: errorName(error) });
}

async function closeInOrder(
  { drainMs = 0, closeTimeoutMs = 10_000 }: DataPlaneOptions,
  server: FastifyInstance,
  background: readonly { close(): Promise<void> | void }[],
  admin: FastifyInstance,
): Promise<void> {
  if (drainMs > 0) await pause(systemTimers, drainMs);
  await closeWithin(server, closeTimeoutMs);
  for (const each of background) await each.close();
  await closeWithin(admin, closeTimeoutMs);
}
