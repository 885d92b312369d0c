// One replica of the data plane: key ring, configuration followed from Redis, store, purges, the
// two ports. While Redis is away at the start it tries again. What a person must fix ends it with a
// sentence and exit code 1.

import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { systemClock } from "../../core/clock.ts";
import { configKeys } from "../../core/config/config-keys.ts";
import type { CopyOrder } from "../../core/config/copy-order.ts";
import { configFormat } from "../../core/config/fields.ts";
import type { CheckOrder } from "../../core/config/object-check.ts";
import type { PurgeOrder } from "../../core/config/purge-order.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { describeError, errorName } from "../../core/log/describe-error.ts";
import { createLogger, type Fields, type Logger } from "../../core/log/logger.ts";
import { pause, systemTimers } from "../../core/timers.ts";
import { type DataPlane, type DataPlaneOptions, startDataPlane } from "../../dataplane/app.ts";
import { failureFacts } from "../../dataplane/config/carry-out-orders.ts";
import { carryOutPurges } from "../../dataplane/config/carry-out-purges.ts";
import { type CountingFailure, countStoredObjects } from "../../dataplane/config/count-stored-objects.ts";
import { type FollowedKeyring, followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { followOrders } from "../../dataplane/config/follow-orders.ts";
import { type FollowedConfig, openRedisDirectory } from "../../dataplane/config/open-redis-directory.ts";
import { reportUsage } from "../../dataplane/config/report-usage.ts";
import { sweepExpired, sweepFacts } from "../../dataplane/expiry/sweep.ts";
import { carryOutChecks } from "../../dataplane/objects/check/carry-out-checks.ts";
import { openAdminPort } from "../../dataplane/observe/admin-server.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { createRedisStore, type RedisStoreOptions } from "../../dataplane/store/redis/redis-store.ts";
import { carryOutCopies } from "../../dataplane/transfer/carry-out-copies.ts";
import { openAdminToken } from "../admin-token.ts";
import { trustRedis } from "../redis-authorities.ts";
import { type Cleanup, programOptions, runProgram } from "../run-program.ts";
import { StartRefused } from "../start-refused.ts";
import type { DataplaneSettings } from "./settings.ts";

export interface DataplaneOptions extends DataplaneSettings {
  /** Time limits that no flag changes, for tests that would otherwise wait for them. */
  readonly timeLimits?: Pick<DataPlaneOptions, "requestTimeoutMs" | "unreadTimeoutMs"> &
    Pick<RedisStoreOptions, "commandTimeoutMs">;
}

const retryMilliseconds = 1_000;

/** Resolves with the exit code once a signal has ended it, or when it can't start. */
export async function runDataplane(options: DataplaneOptions): Promise<number> {
  return await runProgram(programOptions(options), async (cleanup) => {
    await start(options, cleanup);
    return undefined;
  });
}

async function start(options: DataplaneOptions, cleanup: Cleanup): Promise<void> {
  const logger = createLogger({
    level: options.logLevel,
    clock: systemClock,
    write: (text) => void process.stderr.write(text),
  });
  cleanup.add(() => logger.flush());
  const adminPort = await openAdminPort({ host: options.host, port: options.adminPort });
  cleanup.add(() => adminPort.close());
  const adminToken = await openAdminToken(options.adminTokenFile, logger, cleanup);
  await trustRedis(options.redisCaFile, cleanup, logger);
  const keyring = await openKeyring(options.keyring, logger);
  cleanup.add(() => keyring.stop());
  const { stopping } = cleanup;
  const config = await retryWhileRedisIsAway(logger, stopping, () => follow(options, keyring, logger));
  cleanup.add(() => config.close());
  const { host, trustedProxies, publicUrl, logLevel } = options;
  const { commandTimeoutMs, ...planeLimits } = options.timeLimits ?? {};
  const storeLimits = commandTimeoutMs === undefined ? {} : { commandTimeoutMs };
  let store: Store | undefined;
  const plane = await startDataPlane({
    directory: config.directory,
    store: async (observe) => {
      store = await retryWhileRedisIsAway(logger, stopping, () =>
        createRedisStore({
          url: options.redis,
          clock: systemClock,
          observe,
          checkServer: config.checkServer,
          ...storeLimits,
        }),
      );
      return store;
    },
    host,
    port: options.port,
    adminPort,
    adminToken,
    trustedProxies,
    logLevel,
    clock: systemClock,
    wantKeys: config.wantKeys,
    drainMs: options.drain * 1_000,
    ...planeLimits,
    ...(publicUrl !== undefined && { publicUrl }),
  });
  cleanup.add(() => plane.close());
  config.reportBuilding(() => plane.buildingIndexes());
  if (store === undefined) throw new Error("The data plane started without opening its store");
  startOrders(config, { store, plane }, logger, cleanup);
  const sweep = sweepExpired({
    store,
    directory: config.directory,
    preparer: plane.preparer,
    onFailed: (failure) => logger.warn("Failed to remove expired objects", sweepFacts(failure)),
    observe: plane.metrics.observeSweep,
  });
  cleanup.add(() => sweep.stop());
  const reporter = reportUsage({
    redisClient: config.redisClient,
    replica: nameOf(options),
    reports: plane.quotas.reports,
  });
  cleanup.add(() => reporter.stop());
  const counting = countStoredObjects({
    redisClient: config.redisClient,
    store,
    directory: config.directory,
    onFailed: (failure) => logger.warn("Failed to count stored objects", countingFacts(failure)),
  });
  cleanup.add(() => counting.stop());
  logEngine(logger, store);
  logger.info("Data plane listening", { url: plane.url, adminUrl: plane.adminUrl });
  logger.flush();
}

function logEngine(logger: Logger, store: Store): void {
  const { engine } = store.health();
  if (engine === undefined) {
    logger.warn("Redis does not say what it is; it is taken for Redis with RedisJSON");
    return;
  }
  const { name, version, json, jsonVersion, tested } = engine;
  const facts = { server: `${name} ${version}`, json: `${json} ${jsonVersion}`, tested };
  if (tested) logger.info("Store connected", facts);
  else logger.warn("Store connected; the tests do not run on this combination", facts);
}

/** What the operator orders to be done with stored data. */
function startOrders(
  { redisClient, directory }: FollowedConfig,
  { store, plane }: { readonly store: Store; readonly plane: DataPlane },
  logger: Logger,
  cleanup: Cleanup,
): void {
  const { preparer, quotas } = plane;
  const common = { redisClient, store, directory, preparer, storeFor: quotas.storeFor };
  const kinds = [
    carryOutPurges({
      ...common,
      onDone: (order, _result, id) => logger.info("Purge carried out", purgeFacts(id, order)),
      onFailed: (failures) => logger.warn("Purge failed", failureFacts(failures, nameOfPurged)),
    }),
    carryOutChecks({
      ...common,
      onDone: (order, { checked, invalid, migrated = 0 }) =>
        logger.info("Stored objects checked", { ...checkFacts(order), checked, invalid, migrated }),
      onFailed: (failures) =>
        logger.warn(
          "Check of stored objects failed",
          failureFacts(failures, ({ resource }) => `resource ${resource}`),
        ),
    }),
    carryOutCopies({
      ...common,
      onDone: (order, { copied, refused }) =>
        logger.info("Data of another Project copied", { ...copyFacts(order), copied, refused }),
      onFailed: (failures) =>
        logger.warn(
          "Copy of another Project's data failed",
          failureFacts(failures, ({ source }) => `copy ${source.name}`),
        ),
    }),
  ];
  const following = followOrders({
    redisClient,
    onOpen(orders) {
      for (const kind of kinds) kind.carryOut(orders);
    },
    onFailed: (error) => logger.warn("Looking for orders failed", { error: errorName(error) }),
  });
  for (const each of [...kinds, following]) cleanup.add(() => each.stop());
}

function nameOf({ replica = hostname() }: DataplaneOptions): string {
  return replica;
}

function follow(options: DataplaneOptions, keyring: FollowedKeyring, logger: Logger): Promise<FollowedConfig> {
  return openRedisDirectory({
    url: options.redis,
    keyring,
    clock: systemClock,
    replica: nameOf(options),
    maxLoaded: options.maxProjects,
    onFit(fit) {
      const keys = keyring
        .current()
        .keys.map(({ kid }) => kid)
        .join(",");
      if (fit === "fits") logger.info("The published configuration can be read again", { keys });
      else if (fit === "another_ring") {
        logger.error("Key ring does not match the published configuration", {
          keys,
          advice: "Restore the Secret of the fleet's key ring",
        });
      } else {
        logger.error("The published configuration was written by a newer version", {
          reads: configFormat,
          advice: "Update the data plane to the version of the operator",
        });
      }
    },
    onDataLoss(loss) {
      if (loss === undefined) logger.info("Data are served again");
      else logger.error("Redis lost the stored data; requests for data are refused", { loss: loss.name });
    },
    onForbidden(forbidden) {
      if (!forbidden) logger.info("Redis grants read access to {jsonplane}:meta again");
      else
        logger.error("Redis denied read access to {jsonplane}:meta; give the user of this replica its rights", {
          code: "NOPERM",
          key: configKeys.meta,
        });
    },
    onRefusals(refusals) {
      for (const { project, field, reason } of refusals)
        logger.warn("Field of Project refused", { project, field, reason });
    },
  });
}

/** The fleet's key ring, followed: the operator renews it in the Secret that is mounted here. */
async function openKeyring(file: string, logger: Logger): Promise<FollowedKeyring> {
  let started = false;
  const keyring = await followKeyring({
    read: async () =>
      await readFile(file, "utf8").catch((cause: unknown) => {
        if (started) throw cause;
        throw new StartRefused(`The key ring's file ${file} can't be read: mount the fleet's key ring there`, {
          cause,
        });
      }),
    // Neither error quotes the content of the file.
    onRefused: (error) =>
      logger.error("Key ring rejected; keeping the previous one", {
        file,
        reason: error instanceof Error ? error.message : typeof error,
      }),
    onChanged: (ring) => {
      logger.info("Key ring changed", { audit: true, keys: ring.keys.map(({ kid }) => kid).join(",") });
    },
  });
  started = true;
  return keyring;
}

/** A replica may start before its Redis does. Rejects once it is to stop. */
async function retryWhileRedisIsAway<T>(logger: Logger, stopping: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      logger.warn("Redis unavailable at start", { error: describeError(error) });
      await pause(systemTimers, retryMilliseconds, stopping);
    }
  }
}

/** Messages of errors may hold stored data; names do not. */
function countingFacts({ projects, error }: CountingFailure): Fields {
  return { ...(projects !== undefined && { projects }), error: errorName(error) };
}

function checkFacts({ project, resource }: CheckOrder): Fields {
  return { namespace: project.namespace, project: project.name, resource };
}

function copyFacts({ project, source }: CopyOrder): Fields {
  return { namespace: project.namespace, project: project.name, source: source.name };
}

function nameOfPurged(order: PurgeOrder): string {
  return "name" in order ? `${order.what} ${order.name}` : order.what;
}

/** By the same names as in the operator's audit log. */
function purgeFacts(id: string, order: PurgeOrder): Fields {
  const { what, project } = order;
  const data = order.what === "sessions" ? { deletedUid: order.projectUid } : { name: order.name };
  return { audit: true, namespace: project.namespace, project: project.name, what, ...data, purge: id };
}
