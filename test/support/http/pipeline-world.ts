// The data plane from its server to an embedded store, asked without a network, with the plans that
// it is given: to compare one that caches plans with one that decides every request again. Ids come
// in order, so that two worlds that are asked the same answer the same.

import { createLogger } from "../../../core/log/logger.ts";
import { systemTimers } from "../../../core/timers.ts";
import { createFairShareLimiter, type FairShareLimiter } from "../../../dataplane/admission/fair-share.ts";
import { createMemoryBudget, memoryLimits } from "../../../dataplane/admission/memory-budgets.ts";
import { createAnonymousWrites, createRateLimits } from "../../../dataplane/admission/rate-limits.ts";
import { withLocalFallback } from "../../../dataplane/admission/shared-bucket.ts";
import { createAuthentication } from "../../../dataplane/authenticate/create-authentication.ts";
import { createStreams } from "../../../dataplane/changes/streams.ts";
import { createUnreadRoom } from "../../../dataplane/changes/unread-room.ts";
import type { Directory } from "../../../dataplane/config/directory.ts";
import { createPage } from "../../../dataplane/http/page.ts";
import { createHttpServer } from "../../../dataplane/http/server.ts";
import { createScanSemaphore } from "../../../dataplane/objects/list/filter-and-sort.ts";
import { createObjectIds } from "../../../dataplane/objects/object-ids.ts";
import { createCollectionPreparer } from "../../../dataplane/objects/prepare-collection.ts";
import { createMetrics } from "../../../dataplane/observe/metrics.ts";
import { createAccessLog, createRequestObserver } from "../../../dataplane/observe/observe-request.ts";
import { createUsage } from "../../../dataplane/observe/usage.ts";
import { createDescriptions } from "../../../dataplane/openapi/descriptions.ts";
import { createSignInOffers } from "../../../dataplane/openapi/handler.ts";
import type { PlanCache } from "../../../dataplane/operation/plan-cache.ts";
import { createWriteLock } from "../../../dataplane/operation/write-lock.ts";
import { type CachedPlan, createPipeline } from "../../../dataplane/pipeline.ts";
import { createQuotas } from "../../../dataplane/quotas/quotas.ts";
import { publicAddress } from "../../../dataplane/route/find-project.ts";
import { createSessions } from "../../../dataplane/sessions/create-sessions.ts";
import { createPasswordVerifier } from "../../../dataplane/sessions/passwords.ts";
import { createEmbeddedStore } from "../../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { ManualClock } from "../time/manual-clock.ts";
import { cheapCost } from "./projects.ts";

export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** All that a client sees, and what the access log says of it. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly log: string;
}

export interface PipelineWorld {
  ask(request: PlainRequest): Promise<Seen>;
  /** Counters of requests by label, as Prometheus reads them. */
  counts(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface PipelineWorldOptions {
  readonly directory: Directory;
  readonly clock: ManualClock;
  readonly plans: PlanCache<CachedPlan>;
  readonly publicUrl?: string;
  readonly trustedProxies?: readonly string[];
  /** 0 = every signature is checked again. */
  readonly maxVerified?: number;
  readonly fairShare?: FairShareLimiter;
  /** What requests use in place of the store, which it may ask. */
  readonly wrapStore?: (store: Store) => Store;
}

/** Keeps nothing: every request is decided again. */
export const noPlans: PlanCache<never> = {
  find: () => undefined,
  generation: () => 0,
  isCurrent: () => true,
  put: () => undefined,
  forget: () => undefined,
  drop: () => undefined,
};

const nothing = (): void => undefined;

export async function createPipelineWorld(options: PipelineWorldOptions): Promise<PipelineWorld> {
  const { directory, clock, plans, publicUrl = "http://plane.test", trustedProxies = [] } = options;
  const stored = await createEmbeddedStore({ directory: ":memory:", clock });
  const store = options.wrapStore?.(stored) ?? stored;
  const lines: string[] = [];
  const logger = createLogger({ level: "info", clock, write: (text) => lines.push(text) });
  const metrics = createMetrics({
    configAgeSeconds: () => 0,
    projects: () => 0,
    keyringFits: () => true,
    usageReports: () => [],
    streams: () => 0,
    storeEngine: () => undefined,
  });
  const authentication = await createAuthentication({
    directory,
    store,
    clock,
    issuerOf: ({ config }) => `${publicUrl}/${config.namespace}/${config.name}`,
    ...(options.maxVerified !== undefined && { maxVerified: options.maxVerified }),
  });
  let sessionIds = 0;
  const sessions = await createSessions({
    directory,
    store,
    clock,
    authentication,
    passwords: await createPasswordVerifier({ concurrency: 1, maxWaiting: 64, cost: cheapCost }),
    newId() {
      sessionIds += 1;
      return `0197f6a0-0000-4000-8000-${String(sessionIds).padStart(12, "0")}`;
    },
  });
  const preparer = createCollectionPreparer(store, nothing);
  const quotas = createQuotas({ store, clock, directory, quotaRoundMs: 3_600_000, onFailed: nothing });
  const observer = createRequestObserver({
    metrics,
    usage: createUsage(clock),
    accessLog: createAccessLog(logger, clock),
  });
  const buckets = withLocalFallback(store, clock);
  const memory = memoryLimits();
  const server = createHttpServer({
    serve: createPipeline({
      store,
      directory,
      address: publicAddress(publicUrl),
      authentication,
      sessions,
      anonymousWrites: createAnonymousWrites(buckets),
      rates: createRateLimits(buckets, clock, metrics.observeLimited),
      preparer,
      scanSemaphore: createScanSemaphore(),
      fairShare: options.fairShare ?? createFairShareLimiter(clock),
      lock: createWriteLock(),
      bodyBudget: createMemoryBudget(memory.bodies),
      plans,
      room: createUnreadRoom(createMemoryBudget(memory.responses)),
      onExportFailed: nothing,
      streams: createStreams({
        store,
        clock,
        timers: systemTimers,
        onFailure: nothing,
        onRefused: nothing,
        fairShare: createFairShareLimiter(clock),
        room: createUnreadRoom(createMemoryBudget(memory.responses)),
        maxStreams: 10,
      }),
      timers: systemTimers,
      countersOf: observer.countersOf,
      descriptions: createDescriptions(),
      quotas,
      referencePage: createPage("reference", "docs"),
      consolePage: createPage("console", "console"),
      signInOffers: createSignInOffers(),
      clock,
      newId: createObjectIds(clock, (size) => Buffer.alloc(size)),
    }),
    observe: observer.ended,
    observeRefusal: observer.refused,
    observeClosed: nothing,
    memory,
    lifecycle: { stopping: false },
    logger,
    trustedProxies,
  });

  return {
    async ask({ method, url, headers, body }) {
      const injected = { method: method as "GET", url, headers: { "x-request-id": "same", ...headers } };
      const answer = await server.inject(body === undefined ? injected : { ...injected, payload: body });
      const { date: _, ...shown } = answer.headers;
      logger.flush();
      const log = lines
        .splice(0)
        .join("")
        .replaceAll(/,"durationMs":[\d.]+/g, "");
      return { status: answer.statusCode, headers: shown, body: answer.body, log };
    },
    async counts() {
      const text = await metrics.registry.metrics();
      return text
        .split("\n")
        .filter((line) => /^jsonplane_\w+_requests_total\{/.test(line))
        .sort();
    },
    async close() {
      await server.close();
      await preparer.close();
      await quotas.close();
      sessions.close();
      await authentication.close();
      await stored.close();
    },
  };
}
