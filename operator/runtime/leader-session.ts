// What the leader is made of, from the moment it holds the Lease until it loses it: a queue and its
// workers, the right to write configuration, and maintenance. All writing is fenced: to the API
// server by the Lease, to Redis by the epoch.

import { randomBytes } from "node:crypto";
import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { createResourceCheck } from "../compile/resource-check.ts";
import { createAbsences } from "../deletion/absences.ts";
import { createDeletions } from "../deletion/advance-deletions.ts";
import { createDefinitions, type Definitions } from "../deletion/definitions.ts";
import { createNamespaceUids, type NamespaceUids } from "../deletion/namespace-uids.ts";
import { createEventRecorder, type StoppableRecorder } from "../events/event-recorder.ts";
import type { KubeApi, KubeObject } from "../kube/api.ts";
import type { Leadership } from "../lead/elector.ts";
import { fencedApi } from "../lead/fenced-api.ts";
import { controllerIn, isOthers } from "../model/controller.ts";
import type { CustomResource } from "../model/objects.ts";
import { createAcknowledgementLog, createReminders } from "../observe/repeated-failures.ts";
import { type ConfigWriter, createConfigWriter, type OpenRedis } from "../publish/config-writer.ts";
import type { Stage } from "../queue/lanes.ts";
import { createPasswordHasher, type PasswordHasher } from "../queue/password-hasher.ts";
import { createWorkQueue, type QueueFigures, type WorkQueue } from "../queue/work-queue.ts";
import type { WorkResult } from "../queue/workers.ts";
import { createSecretStore } from "../secrets/secret-store.ts";
import { createSecretSweep, type SecretSweep } from "../secrets/secret-sweep.ts";
import type { CacheListener } from "../watch/caches.ts";
import { type BundledRedis, createBundledRedis } from "./bundled-redis.ts";
import { acceptAnnotatedLoss, reportDataLoss } from "./data-loss.ts";
import { createEventHandlers, type EventHandlers } from "./event-handlers.ts";
import { createHostRegistry, type HostRegistry } from "./host-registry.ts";
import { createLeaderIssuers, type LeaderIssuers } from "./leader-issuers.ts";
import { createLeaderStatuses } from "./leader-statuses.ts";
import { createMaintenance, type Maintenance } from "./maintenance.ts";
import { type LeaderRedis, openRedis } from "./open-redis.ts";
import type { OperatorContext } from "./operator-context.ts";
import { createOrderMaintenance, type OrderMaintenance } from "./order-maintenance.ts";
import { createOwnership } from "./ownership.ts";
import { type KeyListener, type ProcessKeyDeps, processKey } from "./process-key.ts";
import { createPublishHealth, type PublishHealth } from "./publish-health.ts";
import { createRedisLooks, type RedisLooks } from "./redis-looks.ts";
import { type ReportKeyDeps, reportKey } from "./report-key.ts";
import { createRetainedDataMaintenance, type RetainedDataMaintenance } from "./retained-data-maintenance.ts";
import { actsAtOnce, createRevocations, type Revocations } from "./revocations.ts";
import { createRingMaintenance, type RingMaintenance } from "./ring-maintenance.ts";
import { runStageWorkers } from "./stage-workers.ts";
import { createTenantLimits, type TenantLimits } from "./tenant-limits.ts";
import { createUsageMaintenance, type UsageMaintenance } from "./usage-maintenance.ts";

export class LeaderSession {
  readonly retainedData: RetainedDataMaintenance;
  readonly usage: UsageMaintenance;
  readonly redisLooks: RedisLooks;
  readonly revocations: Revocations;
  readonly issuers: LeaderIssuers;
  readonly #context: OperatorContext;
  readonly #bundledRedis: BundledRedis;
  readonly #openRedis: typeof openRedis;
  readonly #leadership: Leadership;
  readonly #api: KubeApi;
  readonly #queue: WorkQueue;
  readonly #hasher: PasswordHasher;
  readonly #hosts: HostRegistry;
  readonly #limits: TenantLimits;
  readonly #namespaces: NamespaceUids;
  readonly #handlers: EventHandlers;
  readonly #recorder: StoppableRecorder;
  readonly #definitions: Definitions;
  readonly #sweep: SecretSweep;
  readonly #writer: ConfigWriter;
  readonly #orders: OrderMaintenance;
  readonly #keyRing: RingMaintenance;
  readonly #maintenance: Maintenance;
  readonly #health = createPublishHealth();
  readonly #resealing = new Set<string>();
  #opened: LeaderRedis | undefined;
  #running: Promise<unknown> | undefined;

  /** `open` is what opens the configuration in Redis. */
  constructor(leadership: Leadership, context: OperatorContext, open: typeof openRedis = openRedis) {
    const { caches, clock, timers, monotonic, random, metrics, settings } = context;
    this.#context = context;
    this.#openRedis = open;
    this.#leadership = leadership;
    this.#api = fencedApi(context.api, leadership);
    this.#queue = createWorkQueue({ timers, monotonic, random, observe: metrics.observeQueue });
    this.revocations = createRevocations({
      monotonic,
      rolloutOf: (revision) => this.#opened?.acknowledgements.rolloutOf(revision) ?? "waiting",
      observe: (taken) => metrics.observeConfig({ kind: "revoked", seconds: taken }),
    });
    this.#hasher = createPasswordHasher({ queue: this.#queue });
    this.#limits = createTenantLimits(context);
    this.#hosts = createHostRegistry(this.#limits.hosts);
    this.#namespaces = createNamespaceUids({
      api: this.#api,
      watched: (namespace) => caches.namespaces?.get("", namespace)?.metadata.uid,
    });
    this.#handlers = createEventHandlers({
      add: this.#queue.add,
      revoking: (key, why) => {
        const project = caches.index.projectOf(projectOfKey(key));
        if (!isOthers(project, controllerIn(settings.namespace)) && actsAtOnce(why, project))
          this.revocations.wanted(key);
      },
      hosts: this.#hosts,
      keys: () => caches.index.keys(),
      monotonic,
    });
    this.#recorder = createEventRecorder({
      api: this.#api,
      instance: settings.identity,
      clock,
      monotonic,
      timers,
      random,
      observe: metrics.observeEvent,
    });
    const reminders = createReminders(monotonic);
    this.#definitions = createDefinitions({
      api: this.#api,
      asks: settings.watchNamespaces.length === 0,
      monotonic,
      onWait(kind, why) {
        // Once a minute: thousands of Projects may wait.
        const log = reminders.isDue(kind) ? context.logger.warn : context.logger.debug;
        log("CustomResourceDefinition is missing, being deleted or unreadable; deletions of its kind wait", {
          kind,
          why,
        });
      },
    });
    this.#sweep = createSecretSweep({
      api: this.#api,
      own: caches.ownSecrets,
      foreign: caches.foreignSecrets,
      objects: caches.objects,
      definitions: this.#definitions,
      now: () => clock.now(),
      monotonic,
      audit: context.audit,
    });
    this.#bundledRedis = createBundledRedis({ ...context, api: this.#api, random: randomBytes });
    this.#writer = createConfigWriter({
      open: () => this.#health.withKeyRing(() => this.#open()),
      confirm: () => leadership.confirm(),
      takeOver: settings.adopt,
      onSessionBegun: (redis) => this.#onSessionBegun(redis),
      onTakenOver: ({ facts }) => context.audit.write({ action: "redis_taken_over", facts }),
      onRefused: (refusal) => {
        if (refusal.reason === "RedisContested") metrics.observeConfig({ kind: "contested" });
        this.#maintenance.refused(refusal);
      },
    });
    const redis = () => this.#opened;
    this.retainedData = createRetainedDataMaintenance({
      context,
      api: this.#api,
      enqueue: (key) => this.#queue.add(key),
      redis,
    });
    this.issuers = createLeaderIssuers({ context, api: this.#api, enqueue: (key) => this.#queue.add(key) });
    this.usage = createUsageMaintenance({ context, enqueue: this.#queue.add, redis });
    this.redisLooks = createRedisLooks({ settings, redisClient: () => this.#opened?.redisClient });
    this.#orders = createOrderMaintenance({ context, enqueue: this.#queue.add, redis });
    this.#keyRing = createRingMaintenance({
      context,
      api: this.#api,
      resealProject: (ref) => {
        this.#resealing.add(keyOfProject(ref));
        this.#queue.add(keyOfProject(ref), "bulk");
      },
    });
    this.#maintenance = this.#createMaintenance();
  }

  /** For what changes in the caches from now on. */
  get listener(): CacheListener & Pick<EventHandlers, "guardRailsChanged"> {
    return this.#handlers;
  }

  figures(stage?: Stage): QueueFigures {
    return this.#queue.figures(stage);
  }

  /** Undefined while Redis does not answer. */
  replicas(): { readonly live: number; readonly refusals: number } | undefined {
    const acknowledgements = this.#opened?.acknowledgements;
    return acknowledgements?.liveness() === "unknown" ? undefined : acknowledgements?.figures();
  }

  publishHealth(): Pick<PublishHealth, "projectsWithFailedWrites" | "isKeyRingUsable"> {
    return this.#health;
  }

  dataLost(): boolean {
    return this.#opened?.publisher.dataLoss() !== undefined;
  }

  /** The caches are complete. */
  start(): void {
    for (const object of this.#context.caches.index.all()) this.#handlers.addExisting(object);
    const deps = this.#keyDeps();
    const workers = runStageWorkers({
      context: this.#context,
      queue: this.#queue,
      serve: (key, signal) => this.#serve(key, deps, signal),
      report: (key, signal) => reportKey(key, deps, signal),
      signal: this.#leadership.ended,
    });
    // Every Project is reconciled even if Redis is away: its status says that it can't be
    // published.
    this.#lookAtAll();
    this.#running = Promise.all([workers, this.#maintenance.run()]);
  }

  /** Ends the work under way, then gives the Lease back. */
  async stop(): Promise<void> {
    this.issuers.stop();
    this.#hasher.stop();
    await this.#queue.stop();
    await this.#recorder.stop();
    await this.#leadership.release();
    this.#writer.close();
    await this.#running;
    this.#bundledRedis.close();
  }

  async #serve(key: string, deps: ProcessKeyDeps, signal: AbortSignal): Promise<WorkResult> {
    if (this.#resealing.delete(key)) await (await this.#writer.session()).publisher.reseal(projectOfKey(key));
    return await this.revocations.during(key, () => processKey(key, deps, signal));
  }

  async #open(): Promise<OpenRedis> {
    const { settings, clock, timers, monotonic, logger } = this.#context;
    const opened = await this.#openRedis({
      api: this.#api,
      redisUrl: this.#bundledRedis.url,
      namespace: settings.namespace,
      adopt: settings.adopt,
      onDataLoss: settings.onDataLoss,
      random: randomBytes,
      clock,
      timers,
      observeLook: createAcknowledgementLog(logger, monotonic),
      onHmacKeyMade: () => this.#keyRing.hmacKeyWritten("Missing"),
      onAcknowledged: () => {
        this.revocations.settle();
        this.#handlers.acknowledged(opened.acknowledgements);
        for (const wanted of opened.acknowledgements.wantedKeys()) this.issuers.want(wanted);
      },
    });
    this.#opened = opened;
    return opened;
  }

  /**
   * Incumbents first: a Project that is published with a host keeps it, in whatever order Projects
   * are reconciled.
   */
  async #onSessionBegun({ publisher }: OpenRedis): Promise<void> {
    const { caches, logger } = this.#context;
    const published = await publisher.published();
    for (const { hosts, namespace, name } of published) {
      const uid = caches.index.projectOf({ namespace, name })?.metadata.uid;
      // A published project without an object in a known namespace is withdrawn, and holds no host.
      if (uid !== undefined || !caches.isCurrent(namespace)) this.#hosts.addPublished({ namespace, name }, uid, hosts);
    }
    const lost = publisher.lostFrom(published);
    logger.info("Writer session begun");
    this.#orders.onSessionBegun();
    reportDataLoss(publisher, this.#context);
    if (lost.length > 0) logger.warn("Redis lost published Projects; publishing them first", { projects: lost.length });
    this.#maintenance.onSessionBegun(lost);
  }

  /** Only this check notices a change of the key ring's Secret. */
  async #verify(): Promise<void> {
    await this.#writer.verify();
    const { publisher } = await this.#writer.session();
    const { store } = this.#opened ?? {};
    if (store !== undefined && (await acceptAnnotatedLoss(publisher, store, this.#context))) this.#lookAtAll();
  }

  #lookAtAll(): void {
    for (const key of this.#context.caches.index.keys()) this.#queue.add(key, "bulk");
  }

  #createMaintenance(): Maintenance {
    const { caches, timers, random, logger, metrics } = this.#context;
    return createMaintenance({
      queue: this.#queue,
      timers,
      random,
      logger,
      signal: this.#leadership.ended,
      keys: () => caches.index.keys(),
      isCurrent: caches.isCurrent,
      publisher: async () => (await this.#writer.session()).publisher,
      verify: () => this.#verify(),
      rotateKeyRing: () => this.#health.withKeyRing(() => this.#rotateKeyRing()),
      lookAtRedis: this.redisLooks.look,
      renewRedisCertificate: this.#bundledRedis.renewCertificate,
      refreshUsage: this.usage.refresh,
      refreshOrders: this.#orders.refresh,
      sweepOrphans: async () => {
        const swept = await this.#sweep.sweepOrphans();
        metrics.observeConfig({ kind: "secrets_swept", count: swept });
      },
    });
  }

  async #rotateKeyRing(): Promise<void> {
    await this.#writer.session();
    if (this.#opened !== undefined)
      await this.retainedData.takeRequests(await this.#keyRing.advanceRotation(this.#opened));
  }

  #keyDeps(): ProcessKeyDeps & ReportKeyDeps {
    const { caches, clock, metrics, settings, logger, monotonic, audit } = this.#context;
    const common = {
      api: this.#api,
      adopt: settings.adopt,
      recorder: this.#recorder,
      applyOwnWrite: (object: CustomResource, answer: KubeObject) => caches.objects[object.kind].applyOwnWrite(answer),
    };
    return {
      clock,
      settings,
      watched: {
        objectsOf: this.#limits.objectsOf,
        isCurrent: caches.isCurrent,
        isChanged: (ref) => this.#queue.isChanged(keyOfProject(ref)),
        takeDeleted: this.#limits.limitDeleted(this.#handlers.takeDeleted),
        giveBack: this.#handlers.giveBack,
      },
      ownership: createOwnership({ ...common, controller: controllerIn(settings.namespace), logger }),
      writer: this.#writer,
      absences: createAbsences({
        api: this.#api,
        definitions: this.#definitions,
        onFound: ({ namespace, name }, objects) => {
          const facts = { namespace, name, objects };
          logger.warn("Objects that the watch lacks still exist; their Project waits for the watch", facts);
        },
      }),
      namespaces: this.#namespaces,
      secrets: createSecretStore({
        api: this.#api,
        own: caches.ownSecrets,
        foreign: caches.foreignSecrets,
        hmacKey: () => this.#opened?.hmacKey,
        adopt: settings.adopt,
        monotonic,
      }),
      hasher: this.#hasher,
      hosts: this.#hosts,
      issuers: this.issuers,
      checkResource: createResourceCheck(),
      deletionRequests: this.retainedData.deletions,
      deletions: createDeletions({
        ...common,
        mode: settings.watchNamespaces.length === 0 ? "cluster" : "namespaced",
        sweep: this.#sweep,
        metrics,
        audit,
      }),
      usageDue: this.usage.due,
      ...this.#orders,
      statuses: createLeaderStatuses({
        ...common,
        context: this.#context,
        takeProgrammedDelay: this.#handlers.takeProgrammedDelay,
        redis: () => this.#opened,
      }),
      listener: this.#keyListener(),
      unreported: new Map(),
      recorder: this.#recorder,
      audit,
      metrics,
    };
  }

  #keyListener(): KeyListener {
    const newest = (): number => this.#opened?.publisher.newest() ?? 0;
    return {
      sessionCount: this.#maintenance.sessionCount,
      published: (ref, config, refusedUid) => {
        this.revocations.published(keyOfProject(ref), newest());
        for (const key of this.#hosts.published(ref, config, refusedUid)) this.#queue.add(key);
      },
      revoked: (ref) => this.revocations.published(keyOfProject(ref), newest()),
      processed: (key, { done, nothingMissing, writeFailed }) => {
        this.#handlers.awaits(key, done?.awaited, this.#opened?.acknowledgements);
        this.#health.processed(key, writeFailed === true);
        this.#maintenance.processed(key, nothingMissing);
      },
      reported: (key, awaited) => this.#handlers.awaits(key, awaited, this.#opened?.acknowledgements),
    };
  }
}
