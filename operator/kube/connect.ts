// Finds the API server: a kubeconfig that was named, else the pod's service account, else the
// kubeconfig that kubectl would use. Refuses with NoCluster, whose message says what to set.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { RequestOptions } from "node:https";
import { join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import type { KubeApi } from "./api.ts";
import type { CallObserved, CredentialSource, Credentials } from "./http-transport.ts";
import { createRestApi } from "./rest-api.ts";

/** There is no usable way to an API server in what was configured. Its message says what to set. */
export class NoCluster extends Error {
  override readonly name = "NoCluster";
}

export interface ConnectOptions {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /**
   * Variables that Kubernetes and kubectl know: KUBECONFIG, KUBERNETES_SERVICE_HOST,
   * KUBERNETES_SERVICE_PORT.
   */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly observe: (call: CallObserved) => void;
  readonly monotonic: () => number;
  readonly serviceAccount?: string;
}

export interface ConnectedApi {
  readonly api: KubeApi;
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string;
}

export async function createKubeApi(options: ConnectOptions): Promise<ConnectedApi> {
  const source = await sourceFor(options);
  const { observe, monotonic } = options;
  await source.current(); // Fails now if something is wrong with them, not at the first call.
  return { api: createRestApi({ source, observe, monotonic }), namespace: source.namespace };
}

/** The namespace that objects of the operator itself belong to by default. */
export async function namespaceOf(options: Omit<ConnectOptions, "observe">): Promise<string> {
  return (await sourceFor(options)).namespace;
}

function sourceFor(options: Omit<ConnectOptions, "observe">): Promise<CredentialSource> {
  const { kubeconfig, context, environment, monotonic, serviceAccount: folder = serviceAccountFolder } = options;
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const named = [kubeconfig, context, environment["KUBECONFIG"]].some((text) => text !== undefined && text !== "");
  if (!named && host !== undefined && existsSync(join(folder, "token"))) {
    return inCluster({ host, port: environment["KUBERNETES_SERVICE_PORT"] ?? "443", folder, monotonic });
  }
  return fromKubeconfig({
    ...(kubeconfig !== undefined && { path: kubeconfig }),
    ...(context !== undefined && { context }),
    monotonic,
  });
}

const cachedMs = 10_000;

/** Calls `load` at most every ten seconds, and once for all calls meanwhile. */
function cached(load: () => Promise<Credentials>, monotonic: () => number): Omit<CredentialSource, "namespace"> {
  let loading: Promise<Credentials> | undefined;
  let loadedAt = 0;
  return {
    current() {
      if (loading !== undefined && monotonic() - loadedAt < cachedMs) return loading;
      loadedAt = monotonic();
      const attempt = load();
      loading = attempt;
      attempt.catch(() => {
        if (loading === attempt) loading = undefined;
      });
      return attempt;
    },
    forget() {
      loading = undefined;
    },
  };
}

const thisMachine: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Refuses plain http except on this machine: a bearer token would go over the wire for all to read.
 */
export function serverUrl(text: string): URL {
  if (!URL.canParse(text)) throw new NoCluster(`the API server's address is not a URL: ${JSON.stringify(text)}`);
  const url = new URL(text);
  if (url.protocol === "https:" || (url.protocol === "http:" && thisMachine.has(url.hostname))) return url;
  throw new NoCluster(
    `the API server must be reached by https (http is accepted on localhost only), not ${url.origin}`,
  );
}

export interface RefusedCredentials<Call> {
  observe(call: Call): void;
  /** What is wrong, while the API server's last answer was a refusal of who asks. */
  fault(): string | undefined;
}

export const refusedAdvice =
  "Look at the token in --kubeconfig. If the ServiceAccount of the pods was deleted, create it and replace the pods: a restarted container keeps the token of the former one";

/**
 * Watches what calls are answered, by HTTP status, and passes it on to `next`. Credentials are
 * loaded again after each refusal, so those of a deleted ServiceAccount stay refused until its pods
 * are replaced.
 */
export function createRefusedCredentials<Call extends { readonly code: string }>(
  next: (call: Call) => void,
): RefusedCredentials<Call> {
  let isRefused = false;
  return {
    observe(call) {
      // Without an answer it is not known.
      if (call.code !== "<error>") isRefused = call.code === "401";
      next(call);
    },
    fault: () => (isRefused ? "the API server refuses the operator's credentials (401 Unauthorized)" : undefined),
  };
}

// ------------------------------------------------------------------------------- service account
//
// Read here and not by client-node, which would cost the operator's pods more than fifty megabytes
// of memory for three small files.

/** Where Kubernetes mounts a service account in every pod. */
export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  readonly host: string;
  readonly port: string;
  readonly folder: string;
  readonly monotonic: () => number;
}

export async function inCluster({ host, port, folder, monotonic }: InClusterOptions): Promise<CredentialSource> {
  const text = async (name: string): Promise<string> => (await readFile(join(folder, name), "utf8")).trim();
  const server = serverUrl(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const load = async (): Promise<Credentials> => ({
    server,
    headers: { authorization: `Bearer ${await text("token")}` },
    tls: { ca: await text("ca.crt") },
  });
  return { namespace: await text("namespace"), ...cached(load, monotonic) };
}

// ------------------------------------------------------------------------------------ kubeconfig
//
// Read by client-node: contexts, merged files, client certificates, exec plugins, proxies. It is
// imported only here and only when asked for, and nothing of its transport is used (docs/adr/0014).

export interface KubeconfigOptions {
  /** A file; else what kubectl would use: $KUBECONFIG, then the file in the home folder. */
  readonly path?: string;
  readonly context?: string;
  readonly monotonic: () => number;
}

export async function fromKubeconfig(options: KubeconfigOptions): Promise<CredentialSource> {
  const first = await load(options);
  let config: KubeConfig | undefined = first;
  const source = cached(async () => {
    config ??= await load(options);
    return credentialsOf(config);
  }, options.monotonic);
  return {
    namespace: first.getContextObject(first.getCurrentContext())?.namespace ?? "default",
    current: source.current,
    forget() {
      // The KubeConfig keeps the answer of its exec plugin; the file may have changed, too.
      config = undefined;
      source.forget();
    },
  };
}

async function load({ path, context }: KubeconfigOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (!isRead(config, path)) throw new NoCluster(`the kubeconfig ${path === undefined ? "" : `${path} `}can't be read`);
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  if (cluster === null || (path === undefined && isLastResort(config))) {
    const wanted = context === undefined ? "a current context with a cluster" : `a context ${JSON.stringify(context)}`;
    throw new NoCluster(`no cluster: give a kubeconfig that has ${wanted}, or run in a pod with a service account`);
  }
  // client-node refuses http altogether unless TLS isn't verified; serverUrl has seen that it stays
  // on this machine.
  if (serverUrl(cluster.server).protocol === "http:") {
    config.clusters = config.clusters.map((known) =>
      known.name === cluster.name ? { ...known, skipTLSVerify: true } : known,
    );
  }
  return config;
}

/** The reason is withheld: the parser quotes the file, credentials included. */
function isRead(config: KubeConfig, path: string | undefined): boolean {
  try {
    if (path === undefined) config.loadFromDefault();
    else config.loadFromFile(path);
    return true;
  } catch {
    return false;
  }
}

/** What client-node makes up when it finds no configuration at all. */
function isLastResort(config: KubeConfig): boolean {
  return config.getCurrentContext() === "loaded-context" && config.getCurrentCluster()?.name === "cluster";
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new NoCluster("no cluster in the kubeconfig's current context");
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { headers, auth, ca, cert, key, servername, rejectUnauthorized } = options;
  const basic = auth === undefined || auth === null ? undefined : Buffer.from(auth).toString("base64");
  return {
    server: serverUrl(cluster.server),
    headers: { ...(basic !== undefined && { authorization: `Basic ${basic}` }), ...textHeaders(headers) },
    tls: {
      ...pem("ca", ca),
      ...pem("cert", cert),
      ...pem("key", key),
      ...(servername !== undefined && { servername }),
      ...(rejectUnauthorized === false && { rejectUnauthorized }),
    },
    ...(cluster.proxyUrl !== undefined && { proxy: cluster.proxyUrl }),
  };
}

function textHeaders(headers: unknown): Record<string, string> {
  const entries = Object.entries((headers ?? {}) as Record<string, unknown>);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

function pem(name: "ca" | "cert" | "key", value: unknown): { readonly [name: string]: string } {
  return value === undefined || value === null ? {} : { [name]: String(value) };
}
