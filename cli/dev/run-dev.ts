// Dev mode: data folder, store, data plane, stand-in for the operator, watcher, and the terminal.

import { createSecretKey, type KeyObject, randomBytes, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { systemClock } from "../../core/clock.ts";
import { hashPassword } from "../../core/password/hash-password.ts";
import { systemTimers } from "../../core/timers.ts";
import { type DataPlane, type DataPlaneOptions, startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { sweepExpired, sweepFacts } from "../../dataplane/expiry/sweep.ts";
import type { Store, StoreObservation } from "../../dataplane/store/port.ts";
import { type CheckResource, createResourceCheck } from "../../operator/compile/resource-check.ts";
import { devLimits } from "../../operator/issuers/address-rules.ts";
import { isEmptyFolder } from "../init/run-init.ts";
import { seedFolderOf } from "../manifests/list-files.ts";
import type { Cleanup } from "../run-program.ts";
import { createDevIssuers, type DevIssuers } from "./apply/dev-issuers.ts";
import { createDevOperator, type DevOperator } from "./apply/dev-operator.ts";
import { follow } from "./apply/follow.ts";
import { type DataFolder, otherDataFolders, userOf } from "./data-folder/data-folder.ts";
import { createStateFile } from "./data-folder/dev-state.ts";
import { writeAtomically } from "./data-folder/files.ts";
import { createSecretFiles, type SecretFiles } from "./data-folder/secret-files.ts";
import { createOneTimeTokens } from "./overview/one-time-tokens.ts";
import { createOverview, type Overview } from "./overview/overview.ts";
import { ownHosts } from "./overview/own-hosts.ts";
import { type LocatedCredential, locateCredentials, usableCredentials } from "./report/credentials.ts";
import { createMessageLog } from "./report/messages.ts";
import { type RequestLines, requestLinesFor } from "./report/request-lines.ts";
import { problemsLine, startupMessage } from "./report/startup-message.ts";
import { createSeeder, createSeedProgress, type Seeder } from "./seed/seeder.ts";
import type { DevSettings } from "./settings.ts";
import { createStoredObjectsCheck, type StoredObjectsCheck } from "./stored-data/check-stored-objects.ts";
import { createDevCopies, type DevCopies } from "./stored-data/copy-data.ts";

export interface DevOptions extends DevSettings {
  readonly folder: string;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Resolves once everything is served and printed. Adds what it opens to `cleanup`, even if it fails
 * half-way; the caller closes it in the reverse order.
 */
export async function runDev(options: DevOptions, data: DataFolder, cleanup: Cleanup): Promise<void> {
  const checkResource = createResourceCheck();
  const live = createMemoryDirectory(systemClock);
  const requestLines = requestLinesFor(process.stdout, options.logLevel, systemTimers);
  cleanup.add(() => requestLines?.flush());
  const overview = createOverview(options, createOneTimeTokens(systemClock, randomBytes));
  const issuers = createDevIssuers(systemTimers);
  cleanup.add(() => issuers.stop());
  const { plane, store } = await startPlane(options, { data, live, issuers, overview, requestLines });
  cleanup.add(() => plane.close());
  const sweep = sweepExpired({
    store,
    directory: live.directory,
    preparer: plane.preparer,
    onFailed: (failure) => plane.logger.warn("Failed to remove expired objects", sweepFacts(failure)),
    observe: plane.metrics.observeSweep,
  });
  cleanup.add(() => sweep.stop());

  const publicUrl = options.publicUrl ?? plane.url;
  const secretFiles = createSecretFiles(data.file("secrets"), data.tracked.requireInPlace);
  const seedPath = options.seed ?? (await seedFolderOf(options.folder));
  const seeder = openSeeder(options, { data, live, store, plane, path: seedPath });
  const adminUrl = reachable(plane.adminUrl);
  const urls = { url: reachable(plane.url), publicUrl: reachable(publicUrl), adminUrl };
  await data.noteUrl(urls.url);
  // Each pass applies the manifests, then stores seeds and copies; the overview shows how it ended.
  const operator = await openDevOperator({
    ...{ options, data, live, checkResource, issuers, store, secretFiles, publicUrl },
  });
  const { preparer, quotas } = plane;
  const copies = createDevCopies({ store, preparer, storeFor: quotas.storeFor, directory: live.directory });
  const log = createMessageLog(print);
  const attached = {
    devOperator: filling(operator, seeder, copies),
    secretFiles,
    log,
    folder: options.folder,
    ...urls,
  };
  const devOperator = overview.attach(attached);
  const news = await devOperator.reconcile();

  const view = devOperator.view();
  const credentials = await usableCredentials(view, secretFiles);
  const others = await otherDataFolders(options.folder, data.path);
  const folder = {
    folder: options.folder,
    isEmpty: await isEmptyFolder(options.folder),
    data: {
      ...data,
      others: await Promise.all(others.map(async (path) => ({ path, user: await userOf(path) }))),
      hasData: options.redis === undefined,
    },
  };
  for (const line of startupMessage({ view, credentials, ...folder, ...urls })) print(line);
  for (const message of news) log.say(message);

  const paths = [options.folder, secretFiles.folder, seedPath];
  const check = createStoredObjectsCheck({ directory: live.directory, store, say: log.say });
  cleanup.add(() => check.stop());
  const reporting = reportingOperator(devOperator, { secretFiles, check });
  const following = await follow({
    devOperator: reporting,
    paths,
    say: log.say,
    now: () => systemClock.now(),
    timers: systemTimers,
  });
  cleanup.add(() => following.stop());
  issuers.onChange(following.wake);
  const now = devOperator.view();
  for (const line of problemsLine(now.snapshot, log.current(now), urls.url)) print(line);
  print("Ready");
}

interface PlaneParts {
  readonly data: DataFolder;
  readonly live: MemoryDirectory;
  readonly issuers: DevIssuers;
  readonly overview: Overview;
  readonly requestLines: RequestLines | undefined;
}

/** The port is taken before Secrets are created, because one names the URL. */
async function startPlane(
  options: DevOptions,
  { data, live, issuers, overview, requestLines }: PlaneParts,
): Promise<{ readonly plane: DataPlane; readonly store: Store }> {
  const { host, port, adminPort, logLevel, trustedProxies, publicUrl } = options;
  let store: Store | undefined;
  const plane = await startDataPlane({
    directory: live.directory,
    store: async (observe) => {
      store = await openStore(options, data, observe);
      return store;
    },
    host,
    port,
    adminPort,
    isOwnHost: ownHosts(host, publicUrl ?? ""),
    logLevel,
    trustedProxies,
    clock: systemClock,
    pages: overview,
    keepsSignIn: true,
    wantKeys: issuers.want,
    betweenWantsMs: devLimits.refetchAfterMs,
    ...(requestLines !== undefined && { onRequestEnded: shownBy(requestLines, overview) }),
    ...(publicUrl !== undefined && { publicUrl }),
  }).catch(async (error: unknown) => {
    await store?.close();
    throw error;
  });
  if (store === undefined) throw new Error("The data plane started without opening its store");
  return { plane, store };
}

/** An open overview asks for its state every two seconds, which would hide all other requests. */
function shownBy(requestLines: RequestLines, overview: Overview): NonNullable<DataPlaneOptions["onRequestEnded"]> {
  return (incoming, ending) => {
    if (ending.status < 400 && overview.isForFile(incoming)) return;
    const { request, rawUrl } = incoming;
    requestLines.show({ request, rawUrl, ...ending.context, problem: ending.problem }, ending);
  };
}

/** The embedded store, or Redis JSON where a URL says so. Only the one that is used is loaded. */
async function openStore(
  { redis }: DevOptions,
  data: DataFolder,
  observe: (observation: StoreObservation) => void,
): Promise<Store> {
  if (redis !== undefined) {
    const { createRedisStore } = await import("../../dataplane/store/redis/redis-store.ts");
    return await createRedisStore({ url: redis, clock: systemClock, observe });
  }
  const { createEmbeddedStore } = await import("../../dataplane/store/embedded/embedded-store.ts");
  const store = await createEmbeddedStore({ directory: data.file("store"), clock: systemClock, observe });
  data.tracked.track(data.file("store/jsonplane.db"));
  return store;
}

interface DevOperatorParts {
  readonly options: DevOptions;
  readonly data: DataFolder;
  readonly live: MemoryDirectory;
  readonly checkResource: CheckResource;
  readonly issuers: DevIssuers;
  readonly store: Store;
  readonly secretFiles: SecretFiles;
  readonly publicUrl: string;
}

async function openDevOperator(parts: DevOperatorParts): Promise<DevOperator> {
  const { options, data, publicUrl, ...rest } = parts;
  return await createDevOperator({
    ...rest,
    folder: options.folder,
    stateFile: createStateFile(data.file("objects.json"), data.tracked.requireInPlace),
    clock: systemClock,
    random: randomBytes,
    newUid: randomUUID,
    hashPassword,
    hmacKey: await hmacKeyIn(data.file("seal-key")),
    baseUrlOf: ({ namespace, name }) => `${publicUrl}/${namespace}/${name}`,
  });
}

/** Made once for a data folder: tokens carry revisions of passwords, which are made with it. */
async function hmacKeyIn(file: string): Promise<KeyObject> {
  const found = await readFile(file).catch(() => undefined);
  const bytes = found?.length === 32 ? found : randomBytes(32);
  if (bytes !== found) await writeAtomically(file, bytes);
  return createSecretKey(bytes);
}

interface SeederParts {
  readonly data: DataFolder;
  readonly live: MemoryDirectory;
  readonly store: Store;
  readonly plane: DataPlane;
  readonly path: string;
}

function openSeeder(options: DevOptions, { data, live, store, plane, path }: SeederParts): Seeder {
  return createSeeder({
    path,
    isAsked: options.seed !== undefined,
    note: data.file("seeding"),
    directory: live.directory,
    store,
    preparer: plane.preparer,
    clock: systemClock,
    observe: createSeedProgress(process.stdout),
  });
}

/** With each pass, what has become live and is empty gets its seed, or its copy. */
function filling({ view, reconcile }: DevOperator, seeder: Seeder, copies: DevCopies): DevOperator {
  return {
    view,
    reconcile: async () => [...(await reconcile()), ...(await seeder.seed()), ...(await copies.afterPass(view()))],
  };
}

/** A wildcard address is not one that every client can connect to. */
function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

export interface ReportOptions {
  readonly secretFiles: SecretFiles;
  readonly check: StoredObjectsCheck;
}

/** What is there now is no news. */
function reportingOperator(devOperator: DevOperator, { secretFiles, check }: ReportOptions): DevOperator {
  const locate = (): readonly LocatedCredential[] => locateCredentials(devOperator.view(), secretFiles);
  let known = digests(locate());
  check.afterPass();
  return {
    view: devOperator.view,
    async reconcile() {
      const news = await devOperator.reconcile();
      check.afterPass();
      const credentials = locate();
      const fresh = credentials.filter(({ subject, digest }) => known.get(subject) !== digest);
      known = digests(credentials);
      return [...news, ...fresh.map((credential) => ({ text: line(credential) }))];
    },
  };
}

function line({ kind, subject, file }: LocatedCredential): string {
  return `${subject}: its ${kind === "login" ? "password" : "key"} is in ${file}`;
}

function digests(credentials: readonly LocatedCredential[]): ReadonlyMap<string, string> {
  return new Map(credentials.map(({ subject, digest }) => [subject, digest]));
}
