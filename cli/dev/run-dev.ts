// Dev mode, put together: data folder, store, data plane, cluster stand-in, watcher, and what is told at the terminal.

import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../core/clock.ts";
import { hashPassword, isPasswordOf } from "../../core/password/hash-password.ts";
import { systemTimers } from "../../core/timers.ts";
import { type DataPlane, startDataPlane } from "../../dataplane/app.ts";
import { createMemoryDirectory, type MemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { type CheckSchema, createSchemaCheck } from "../../operator/compile/schema-check.ts";
import type { Closers } from "../run-program.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { usableCredentials } from "./credentials.ts";
import type { DataFolder } from "./data-folder.ts";
import type { DevOptions } from "./dev-options.ts";
import { follow } from "./follow.ts";
import { openStore } from "./open-store.ts";
import { createSecretFiles, type SecretFiles } from "./secret-files.ts";
import { welcome } from "./startup-message.ts";
import { createKnowledgeFile } from "./state-file.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/**
 * Resolves once everything is served and told. Whatever it opens is added to `closers` in order, however far it comes, for
 * the caller to close in the reverse order.
 */
export async function runDev(options: DevOptions, data: DataFolder, closers: Closers): Promise<void> {
  // One memory for compile and the data plane: each schema is compiled once.
  const checkSchema = createSchemaCheck();
  const live = createMemoryDirectory(systemClock, checkSchema);
  const { plane, store } = await startPlane(options, live);
  closers.push(() => plane.close());

  const publicUrl = options.publicUrl ?? plane.url;
  const secretFiles = createSecretFiles(join(options.data, "secrets"));
  const cluster = await openCluster({ options, data, live, checkSchema, store, secretFiles, publicUrl });
  for (const line of await cluster.reconcile()) say(line);

  const view = cluster.view();
  const credentials = await usableCredentials(view, secretFiles);
  const urls = { url: reachable(plane.url), publicUrl: reachable(publicUrl), adminUrl: reachable(plane.adminUrl) };
  for (const line of welcome({ view, credentials, folder: options.folder, ...urls })) say(line);

  const paths = [options.folder, secretFiles.folder];
  const following = await follow({ cluster, paths, say, now: () => systemClock.now(), timers: systemTimers });
  closers.push(() => following.stop());
  say("Ready");
}

/** The port is taken before anything is minted, because a Secret names the URL. Until the first pass it answers 503. */
async function startPlane(
  options: DevOptions,
  live: MemoryDirectory,
): Promise<{ readonly plane: DataPlane; readonly store: Store }> {
  const { host, port, adminPort, logLevel, trustedProxies, publicUrl } = options;
  let store: Store | undefined;
  const plane = await startDataPlane({
    directory: live.directory,
    store: async (observe) => {
      store = await openStore({
        redis: options.redis,
        directory: join(options.data, "store"),
        clock: systemClock,
        observe,
      });
      return store;
    },
    host,
    port,
    adminPort,
    logLevel,
    trustedProxies,
    clock: systemClock,
    ...(publicUrl !== undefined && { publicUrl }),
  }).catch(async (error: unknown) => {
    await store?.close();
    throw error;
  });
  if (store === undefined) throw new Error("The data plane started without opening its store");
  return { plane, store };
}

interface ClusterParts {
  readonly options: DevOptions;
  readonly data: DataFolder;
  readonly live: MemoryDirectory;
  readonly checkSchema: CheckSchema;
  readonly store: Store;
  readonly secretFiles: SecretFiles;
  readonly publicUrl: string;
}

async function openCluster(parts: ClusterParts): Promise<Cluster> {
  const { options, data, publicUrl, ...rest } = parts;
  return await createCluster({
    ...rest,
    folder: options.folder,
    knowledge: createKnowledgeFile(data.file("objects.json")),
    clock: systemClock,
    random: randomBytes,
    newUid: randomUUID,
    hashPassword,
    isPasswordOf,
    baseUrlOf: ({ namespace, name }) => `${publicUrl}/${namespace}/${name}`,
  });
}

/** An address that stands for all of this machine's is nothing that one can connect to everywhere. */
function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
