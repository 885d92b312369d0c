// Serves projects over real HTTP from real stores. A suite given to describeServed runs once, on
// Redis JSON; describeServedOnBothStores and describeServedEverywhere add the embedded store and a
// Redis Cluster of three primaries. Every `serve` has a namespace of its own, so that all suites
// share one Redis and one Cluster. What is served inside a test ends with it; what is served in a
// beforeAll ends with the suite.

import { randomBytes } from "node:crypto";
import { Agent } from "node:http";
import { afterAll, afterEach, beforeAll, beforeEach, describe } from "vitest";
import { type Clock, systemClock } from "../../../core/clock.ts";
import type { CompiledProject } from "../../../core/config/types.ts";
import { type DataPlane, type DataPlaneOptions, startDataPlane } from "../../../dataplane/app.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../../dataplane/config/memory-directory.ts";
import { createEmbeddedStore } from "../../../dataplane/store/embedded/embedded-store.ts";
import type { Store, StoreObservation } from "../../../dataplane/store/port.ts";
import { openRedisStore } from "../redis/open-store.ts";
import { sharedRedis, sharedRedisCluster } from "../redis/shared-redis.ts";
import { type Reply, type SentRequest, send } from "./http-client.ts";
import { changed, cheapCost, inNamespace, type Modifier } from "./projects.ts";

export interface Served {
  /** `http://127.0.0.1:<port>`. */
  readonly origin: string;
  readonly adminUrl: string;
  /** Path base of the first project: `/<namespace>/<project>`. */
  readonly base: string;
  readonly namespace: string;
  readonly store: Store;
  readonly live: MemoryDirectory;
  readonly plane: DataPlane;
  /** Everything logged so far. */
  log(): string;
  /** A request below the first project's base, over connections that are kept. */
  send(path: string, sent?: SentRequest): Promise<Reply>;
  /** Puts a changed first project live and returns it. */
  change(...modifiers: readonly Modifier[]): CompiledProject;
}

export interface ServeOptions
  extends Partial<
    Pick<
      DataPlaneOptions,
      | "trustedProxies"
      | "publicUrl"
      | "requestTimeoutMs"
      | "closeTimeoutMs"
      | "drainMs"
      | "quotaRoundMs"
      | "timers"
      | "wantKeys"
    >
  > {
  readonly clock?: Clock;
  /** Replicas of one fleet share it, their store and their projects; by default a fresh one. */
  readonly namespace?: string;
}

export type Serve = (projects: CompiledProject | readonly CompiledProject[], options?: ServeOptions) => Promise<Served>;

/**
 * On Redis JSON: the store's contract (test/store/contract) proves that the embedded store answers
 * every call alike.
 */
export function describeServed(name: string, suite: (serve: Serve) => void): void {
  describe(name, () => onRedis(suite, sharedRedis));
}

/**
 * For the suites that together make each use of the store that the pipeline makes, once: objects
 * created, read, changed, deleted and listed in every order; root keys and what is inside them;
 * sessions and throttled logins; Idempotency-Keys; quotas. A further suite is of this kind only
 * when it brings a use that none of them has. What the embedded store might do differently in any
 * other respect is a promise of the port: it belongs into test/store/contract/.
 */
export function describeServedOnBothStores(name: string, suite: (serve: Serve) => void): void {
  describeServed(name, suite);
  describeServedEmbedded(name, suite);
}

/**
 * For what takes minutes of the store's own time, which no test can move on in Redis: the store's
 * contract proves that both let budgets and buckets fill alike.
 */
export function describeServedEmbedded(name: string, suite: (serve: Serve) => void): void {
  describe(`${name} (embedded store)`, () =>
    suiteOn(suite, (clock, observe) => createEmbeddedStore({ directory: ":memory:", clock, observe })));
}

/**
 * For what reaches over the slots of a project; what concerns one object or one root key is the
 * same on a Cluster.
 */
export function describeServedEverywhere(name: string, suite: (serve: Serve) => void): void {
  describeServedOnBothStores(name, suite);
  describe(`${name} (Redis Cluster)`, () => onRedis(suite, sharedRedisCluster));
}

/**
 * Serves the same projects from two data planes, each with connections of its own, on one Redis
 * JSON or one Cluster.
 */
export type ServeTwice = (
  project: CompiledProject,
  options?: ServeOptions,
  /** Of the second one, where it differs. */
  others?: ServeOptions,
) => Promise<readonly [Served, Served]>;

export function describeReplicas(name: string, suite: (serveTwice: ServeTwice) => void): void {
  describe(`${name} (two replicas)`, () => onRedis(twice(suite), sharedRedis));
}

export function describeReplicasEverywhere(name: string, suite: (serveTwice: ServeTwice) => void): void {
  describeReplicas(name, suite);
  describe(`${name} (two replicas, Redis Cluster)`, () => onRedis(twice(suite), sharedRedisCluster));
}

function twice(suite: (serveTwice: ServeTwice) => void): (serve: Serve) => void {
  return (serve) =>
    suite(async (given, options = {}, others = {}) => {
      const one = await serve(given, options);
      return [one, await serve(given, { ...options, ...others, namespace: one.namespace })];
    });
}

type FindRedis = () => { readonly url: string } | Promise<{ readonly url: string }>;

function onRedis(suite: (serve: Serve) => void, find: FindRedis): void {
  let url: string;
  beforeAll(async () => {
    ({ url } = await find());
  });
  suiteOn(suite, (clock, observe) => openRedisStore({ url, clock, observe }));
}

type OpenStore = (clock: Clock, observe: (observation: StoreObservation) => void) => Promise<Store>;

function suiteOn(suite: (serve: Serve) => void, openStore: OpenStore): void {
  const closingAfterTest: (() => Promise<void>)[] = [];
  const closingAfterSuite: (() => Promise<void>)[] = [];
  let closing = closingAfterSuite;
  beforeEach(() => {
    closing = closingAfterTest;
  });
  afterEach(async () => {
    closing = closingAfterSuite;
    for (const close of closingAfterTest.splice(0).reverse()) await close();
  });
  afterAll(async () => {
    for (const close of closingAfterSuite.splice(0).reverse()) await close();
  });
  suite(async (given, options = {}) => {
    const ends = closing;
    const clock = options.clock ?? systemClock;
    let observe: (observation: StoreObservation) => void = () => undefined;
    const store = await openStore(clock, (observation) => observe(observation));
    ends.push(() => store.close());
    const served = await serveFrom(store, Array.isArray(given) ? given : [given as CompiledProject], {
      ...options,
      clock,
    });
    ends.push(() => served.plane.close());
    observe = served.plane.metrics.observeStore;
    return served;
  });
}

/** Serves projects from a store that the caller opened and closes. */
export async function serveFrom(
  store: Store,
  given: readonly CompiledProject[],
  options: ServeOptions = {},
): Promise<Served> {
  const clock = options.clock ?? systemClock;
  const { namespace = `ns-${randomBytes(6).toString("hex")}`, ...planeOptions } = options;
  const projects = given.map((parts) => changed(parts, inNamespace(namespace)));
  const live = createMemoryDirectory(clock);
  const refused = live.replace(projects);
  if (refused.length > 0) throw new Error(`A test's schema was refused: ${JSON.stringify(refused)}`);
  const agent = new Agent({ keepAlive: true });
  let logged = "";
  const plane = await startDataPlane({
    ...planeOptions,
    clock,
    directory: live.directory,
    store,
    host: "127.0.0.1",
    port: 0,
    adminPort: 0,
    passwordCost: cheapCost,
    writeLog: (text) => {
      logged += text;
    },
  });
  let first = projects[0] as CompiledProject;
  const base = `/${namespace}/${first.project.name}`;
  return {
    origin: plane.url,
    adminUrl: plane.adminUrl,
    base,
    namespace,
    store,
    live,
    plane,
    log() {
      plane.logger.flush();
      return logged;
    },
    send: (path, sent) => send(plane.url, base + path, sent, agent),
    change(...modifiers) {
      first = changed(first, ...modifiers);
      live.put(first);
      return first;
    },
  };
}
