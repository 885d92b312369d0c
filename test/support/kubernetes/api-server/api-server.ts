// Starts a real Kubernetes API server with an etcd of its own for tests, on free ports of
// 127.0.0.1: RBAC on, this project's CRDs installed, controllers only where asked. Refuses when a
// part is missing (PartMissing) or a program doesn't come up, with the end of its log. Everything
// ends with this process, however that ends.

import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { servedVersions } from "../../../../core/manifests/object.ts";
import { findKubernetes } from "../../../../tools/parts/kubernetes.ts";
import { crdFolder } from "../../../../tools/read-crds.ts";
import { freePort } from "../../process/free-port.ts";
import { type PartProcess, startPart } from "../../process/part-process.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { eventually } from "../../time/eventually.ts";
import { accessTo, type ServerLocation, type TestApiServer } from "./api-server-access.ts";
import { writeAuditPolicy } from "./api-server-audit.ts";
import { type ApiTarget, apiObject } from "./api-server-call.ts";
import { controllerArgs, etcdArgs, type ServerPlan, serverArgs } from "./api-server-flags.ts";
import { askEtcd, compactEtcd, isHealthy } from "./api-server-health.ts";
import { applyManifests, discoveredResources } from "./api-server-objects.ts";
import { adminToken, type StaticUser, writeServiceAccountKeys, writeTokens } from "./api-server-users.ts";
import { rememberState } from "./etcd-state.ts";

export interface ApiServerOptions {
  /**
   * Controllers of kube-controller-manager that run; default none: then nothing ends a namespace or
   * collects garbage.
   */
  readonly controllers?: readonly ("namespace" | "garbage-collector-controller" | (string & {}))[];
  /** Users in addition to the administrator; service accounts need no entry: see `kubeconfig`. */
  readonly users?: readonly StaticUser[];
  /** Writes every request down, so that `requests` can answer. */
  readonly audit?: boolean;
  /** Further arguments of kube-apiserver, such as `["--watch-cache=false"]`. */
  readonly args?: readonly string[];
  /** False leaves the project's CRDs out. */
  readonly crds?: boolean;
}

/** A server that nobody else uses: it may be killed, paused and taken its history. */
export interface OwnApiServer extends TestApiServer {
  readonly location: ServerLocation;
  readonly pid: number;
  /** What it returns brings everything back that is stored now, and deletes the rest. */
  rememberState(): Promise<() => Promise<void>>;
  /**
   * Forgets the history of etcd: a watch or page from before is gone (410) once the server's cache
   * is new: `restartApiServer`.
   */
  compactEtcd(): Promise<void>;
  kill9ApiServer(): Promise<void>;
  /** Ends the API server when it still runs, and starts it on the same port. */
  restartApiServer(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing answers, until `resumeApiServer`. */
  pauseApiServer(): void;
  resumeApiServer(): void;
  /** Ends all programs and removes their folder. */
  stop(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions = {}): Promise<OwnApiServer> {
  const plan = await prepare(options);
  const etcd = await startEtcd(plan);
  const parts: PartProcess[] = [etcd];
  const stop = () => stopAll(parts, plan);
  try {
    const server = await startServer(plan);
    parts.unshift(server);
    const access = accessTo(plan);
    const control = async (): Promise<void> => {
      if (options.controllers?.length) parts.unshift(await startControllers(plan, access, options.controllers));
    };
    await Promise.all([options.crds !== false && installCrds(access), control()]);
    return {
      ...access,
      location: locationOf(plan),
      get pid() {
        return server.pid;
      },
      rememberState: () => rememberState((path, body) => askEtcd(plan.etcdPort, path, body)),
      compactEtcd: () => compactEtcd(plan.etcdPort),
      kill9ApiServer: () => server.end("SIGKILL"),
      restartApiServer: () => server.restart(),
      pauseApiServer: () => server.signal("SIGSTOP"),
      resumeApiServer: () => server.signal("SIGCONT"),
      async stop() {
        access.agent.destroy();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function locationOf({ dir, programs, url, certificate, audit, users }: ServerPlan): ServerLocation {
  return { dir, programs, url, certificate, audit, users };
}

async function prepare(options: ApiServerOptions): Promise<ServerPlan> {
  const programs = await findKubernetes(process.env);
  const { path: dir, remove } = temporaryFolder("jsonplane-kube-");
  const users = options.users ?? [];
  const certificates = join(dir, "certificates");
  await mkdir(certificates);
  await Promise.all([writeServiceAccountKeys(dir), writeTokens(dir, users), writeAuditPolicy(dir)]);
  const port = await freePort();
  return {
    dir,
    remove,
    programs,
    port,
    url: `https://127.0.0.1:${port}`,
    certificate: join(certificates, "apiserver.crt"),
    etcdPort: await freePort(),
    etcdPeerPort: await freePort(),
    audit: options.audit === true,
    users,
    further: options.args ?? [],
  };
}

function startEtcd(plan: ServerPlan): Promise<PartProcess> {
  return startPart({
    name: "etcd",
    program: plan.programs.etcd,
    args: etcdArgs(plan),
    log: join(plan.dir, "etcd.log"),
    temporary: plan.dir,
    isUp: () => isHealthy({ url: `http://127.0.0.1:${plan.etcdPort}/health` }),
  });
}

function startServer(plan: ServerPlan): Promise<PartProcess> {
  return startPart({
    name: "kube-apiserver",
    program: plan.programs.kubeApiserver,
    args: serverArgs(plan),
    // A seventh of the work of a start is collecting garbage; it has 380 MB instead of 270 then.
    env: { GOGC: "400" },
    log: join(plan.dir, "kube-apiserver.log"),
    isUp: async () => {
      const ca = await readFile(plan.certificate).catch(() => undefined);
      return ca !== undefined && (await isHealthy({ url: `${plan.url}/readyz`, ca, token: adminToken }));
    },
  });
}

async function startControllers(
  plan: ServerPlan,
  access: TestApiServer,
  names: readonly string[],
): Promise<PartProcess> {
  const [port, kubeconfig] = await Promise.all([freePort(), access.kubeconfig()]);
  return startPart({
    name: "kube-controller-manager",
    program: plan.programs.kubeControllerManager,
    args: controllerArgs(kubeconfig, names, { dir: plan.dir, port }),
    log: join(plan.dir, "kube-controller-manager.log"),
    isUp: () => isHealthy({ url: `https://127.0.0.1:${port}/healthz`, insecure: true }),
  });
}

export async function installCrds(target: ApiTarget): Promise<void> {
  for (const name of await readdir(crdFolder)) {
    await applyManifests(target, await readFile(join(crdFolder, name), "utf8"));
  }
  await servesCrds(target);
}

/**
 * Waits until the server says everywhere that it has the five kinds in each version: kubectl
 * remembers for minutes what it got.
 */
export async function servesCrds(target: ApiTarget): Promise<void> {
  const names = await readdir(crdFolder);
  await eventually(
    async () => {
      const found = await discoveredResources(target);
      if (found.length < names.length * servedVersions.length) throw new Error(`the server serves only ${found}`);
      for (const resource of found) await apiObject(target, `/apis/jsonplane.io/${resource}?limit=1`);
    },
    { withinMs: 60_000 },
  );
}

async function stopAll(parts: readonly PartProcess[], { remove }: ServerPlan): Promise<void> {
  // Writers first; a paused one can't hear SIGTERM.
  for (const part of parts) await part.end("SIGKILL");
  await remove();
}
