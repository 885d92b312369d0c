// Starts a real Kubernetes API server with an etcd of its own for tests, on free ports of 127.0.0.1: RBAC on, this project's CRDs
// installed, controllers only where asked. Refuses when a part is missing (PartMissing) or a program doesn't come up, with the end
// of its log. Everything ends with this process, however that ends.

import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findKubernetes, type KubernetesPrograms } from "../../tools/parts/kubernetes.ts";
import { type AuditedRequest, auditedRequests, writeAuditPolicy } from "./api-server-audit.ts";
import { controllerArgs, etcdArgs, serverArgs } from "./api-server-flags.ts";
import { compactEtcd, isHealthy } from "./api-server-health.ts";
import {
  adminToken,
  type StaticUser,
  writeKubeconfig,
  writeServiceAccountKeys,
  writeTokens,
} from "./api-server-users.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { type Kubectl, type KubectlOptions, kubectlOf } from "./kubectl.ts";
import { type PartProcess, startPart } from "./part-process.ts";

export interface ApiServerOptions {
  /** Controllers of kube-controller-manager that run; default none: then nothing ends a namespace or collects garbage. */
  readonly controllers?: readonly ("namespace" | "garbage-collector-controller" | (string & {}))[];
  /** Users beside the administrator; service accounts need no entry: see `kubeconfig`. */
  readonly users?: readonly StaticUser[];
  /** Writes every request down, so that `requests` can answer. */
  readonly audit?: boolean;
  /** Further arguments of kube-apiserver, such as `["--watch-cache=false"]`. */
  readonly args?: readonly string[];
  /** False leaves the project's CRDs out. */
  readonly crds?: boolean;
}

/** Who asks: the administrator, a user of `users`, or a service account, which is made where it isn't there. */
export type TestUser =
  | "admin"
  | { readonly user: string }
  | { readonly namespace: string; readonly serviceAccount: string };

export interface TestApiServer {
  /** `https://127.0.0.1:…` */
  readonly url: string;
  /** Path of the certificate that the server shows, which is its own authority. */
  readonly certificate: string;
  readonly pid: number;
  readonly programs: KubernetesPrograms;
  /** Path of a kubeconfig file of that user. */
  kubeconfig(user?: TestUser): Promise<string>;
  /** Bearer token of that user. */
  token(user?: TestUser): Promise<string>;
  /** Runs kubectl to its end as the administrator or another; rejects when it fails, with what it said. */
  kubectl(args: readonly string[], options?: KubectlOptions & { readonly as?: TestUser }): Promise<string>;
  /** `kubectl apply --server-side` of one or more documents. */
  apply(yaml: string, options?: { readonly namespace?: string }): Promise<string>;
  /** Makes a namespace of a name that nothing else has, and returns the name. */
  namespace(prefix?: string): Promise<string>;
  /** Requests that were answered, oldest first; needs `audit`. */
  requests(user: TestUser): Promise<readonly AuditedRequest[]>;
  /** Forgets the history of etcd: a watch or page from before is gone (410) once the server's cache is new: `restartApiServer`. */
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

const crds = fileURLToPath(new URL("../../crds/", import.meta.url));
let namespaces = 0;

export async function startApiServer(options: ApiServerOptions = {}): Promise<TestApiServer> {
  const place = await prepare(options);
  const etcd = await startEtcd(place);
  const server = await startServer(place);
  const parts: PartProcess[] = [server, etcd];
  const admin = kubectlOf(place.programs.kubectl, await writeKubeconfig(place, "admin", adminToken));
  const stop = () => stopAll(parts, place.dir);
  try {
    if (options.crds !== false) await installCrds(admin);
    if (options.controllers) parts.unshift(await startControllers(place, admin.kubeconfig, options.controllers));
  } catch (error) {
    await stop();
    throw error;
  }
  const users = usersOf(place, admin);
  return {
    url: place.url,
    certificate: place.certificate,
    programs: place.programs,
    get pid() {
      return server.pid;
    },
    ...users,
    async kubectl(args, { as = "admin", ...how } = {}) {
      return kubectlOf(place.programs.kubectl, await users.kubeconfig(as)).run(args, how);
    },
    apply: (yaml, { namespace } = {}) =>
      admin.run(["apply", "--server-side", ...(namespace ? ["--namespace", namespace] : []), "-f", "-"], {
        input: yaml,
      }),
    async namespace(prefix = "test") {
      namespaces += 1;
      const name = `${prefix}-${process.pid}-${namespaces}`;
      await admin.run(["create", "namespace", name]);
      return name;
    },
    compactEtcd: () => compactEtcd(place.etcdPort),
    kill9ApiServer: () => server.end("SIGKILL"),
    restartApiServer: () => server.restart(),
    pauseApiServer: () => server.signal("SIGSTOP"),
    resumeApiServer: () => server.signal("SIGCONT"),
    stop,
  };
}

/** Where the programs of one test server live. */
export interface ServerPlace {
  readonly dir: string;
  readonly programs: KubernetesPrograms;
  readonly port: number;
  readonly url: string;
  readonly certificate: string;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly audit: boolean;
  readonly users: readonly StaticUser[];
  readonly further: readonly string[];
}

async function prepare(options: ApiServerOptions): Promise<ServerPlace> {
  const programs = await findKubernetes(process.env);
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-kube-"));
  const users = options.users ?? [];
  const certificates = join(dir, "certificates");
  await mkdir(certificates);
  await writeServiceAccountKeys(dir);
  await writeTokens(dir, users);
  await writeAuditPolicy(dir);
  const port = await freePort();
  return {
    dir,
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

function startEtcd(place: ServerPlace): Promise<PartProcess> {
  return startPart({
    name: "etcd",
    program: place.programs.etcd,
    args: etcdArgs(place),
    log: join(place.dir, "etcd.log"),
    temporary: place.dir,
    isUp: () => isHealthy({ url: `http://127.0.0.1:${place.etcdPort}/health` }),
  });
}

function startServer(place: ServerPlace): Promise<PartProcess> {
  return startPart({
    name: "kube-apiserver",
    program: place.programs.kubeApiserver,
    args: serverArgs(place),
    log: join(place.dir, "kube-apiserver.log"),
    isUp: async () => {
      const ca = await readFile(place.certificate).catch(() => undefined);
      return ca !== undefined && (await isHealthy({ url: `${place.url}/readyz`, ca, token: adminToken }));
    },
  });
}

function startControllers(place: ServerPlace, kubeconfig: string, names: readonly string[]): Promise<PartProcess> {
  return freePort().then((port) =>
    startPart({
      name: "kube-controller-manager",
      program: place.programs.kubeControllerManager,
      args: controllerArgs(kubeconfig, names, { dir: place.dir, port }),
      log: join(place.dir, "kube-controller-manager.log"),
      isUp: () => isHealthy({ url: `https://127.0.0.1:${port}/healthz`, insecure: true }),
    }),
  );
}

async function installCrds(admin: Kubectl): Promise<void> {
  await admin.run(["apply", "--server-side", "-f", crds]);
  await admin.run(["wait", "--for=condition=Established", "crd", "--all", "--timeout=30s"]);
  // The server says a moment later which kinds it has, and kubectl remembers for minutes what it was told: it has to ask anew.
  await eventually(async () => {
    const kinds = await admin.run(["api-resources", "--api-group=jsonplane.io", "--cached=false", "-o", "name"]);
    if (kinds.trim().split("\n").length < 5) throw new Error(`the server serves only ${kinds}`);
  });
}

type UserCalls = Pick<TestApiServer, "kubeconfig" | "token" | "requests">;

function usersOf(place: ServerPlace, admin: Kubectl): UserCalls {
  const files = new Map<string, Promise<string>>();
  const tokens = new Map<string, Promise<string>>();
  const findToken = async (user: TestUser) => {
    if (user === "admin") return adminToken;
    if ("serviceAccount" in user) return serviceAccountToken(admin, user.namespace, user.serviceAccount);
    const known = place.users.find(({ name }) => name === user.user);
    if (!known) throw new Error(`startApiServer was told of no user ${user.user}`);
    return known.token;
  };
  const token = (user: TestUser = "admin") => {
    const name = userName(user);
    const secret = tokens.get(name) ?? findToken(user);
    tokens.set(name, secret);
    return secret;
  };
  return {
    token,
    kubeconfig(user = "admin") {
      const name = userName(user);
      const file = files.get(name) ?? token(user).then((secret) => writeKubeconfig(place, name, secret));
      files.set(name, file);
      return file;
    },
    async requests(user) {
      if (!place.audit) throw new Error("startApiServer({ audit: true }) writes requests down; this one doesn't");
      return auditedRequests(place.dir, userName(user));
    },
  };
}

/** The name that the API server knows a user by. */
function userName(user: TestUser): string {
  if (user === "admin") return "admin";
  return "user" in user ? user.user : `system:serviceaccount:${user.namespace}:${user.serviceAccount}`;
}

async function serviceAccountToken(admin: Kubectl, namespace: string, name: string): Promise<string> {
  for (const kind of [["namespace"], ["serviceaccount", "--namespace", namespace]] as const) {
    const [what, ...where] = kind;
    const called = what === "namespace" ? namespace : name;
    const present = await admin.run(["get", what, called, ...where, "--ignore-not-found", "-o", "name"]);
    if (present === "") await admin.run(["create", what, called, ...where]);
  }
  const made = await admin.run(["create", "token", name, "--namespace", namespace, "--duration=24h"]);
  return made.trim();
}

async function stopAll(parts: readonly PartProcess[], dir: string): Promise<void> {
  // Writers first; a paused one can't hear SIGTERM.
  for (const part of parts) await part.end("SIGKILL");
  await rm(dir, { recursive: true, force: true });
}
