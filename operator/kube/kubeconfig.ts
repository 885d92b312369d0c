// A kubeconfig as credentials, read by client-node: contexts, merged files, client certificates, exec plugins, proxies. It is
// imported only here and only when asked for, and nothing of its transport is used (docs/adr/0014).

import type { KubeConfig } from "@kubernetes/client-node";
import { type CredentialSource, type Credentials, cached, NoCluster, serverUrl } from "./credentials.ts";

export interface KubeconfigOptions {
  /** A file; else what kubectl would take: $KUBECONFIG, then the file in the home folder. */
  readonly path?: string;
  readonly context?: string;
  readonly monotonic: () => number;
}

export async function fromKubeconfig(options: KubeconfigOptions): Promise<CredentialSource> {
  let config = await load(options);
  let current = cached(() => credentialsOf(config), options.monotonic);
  return {
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? "default",
    current: () => current(),
    forget() {
      // A new KubeConfig, because the old one keeps the answer of its exec plugin; the file may have changed, too.
      current = cached(async () => {
        config = await load(options);
        return credentialsOf(config);
      }, options.monotonic);
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
  const server = serverUrl(cluster.server);
  // client-node refuses http altogether unless TLS isn't verified; serverUrl has seen that it stays on this machine.
  if (server.protocol === "http:") {
    config.clusters = config.clusters.map((known) =>
      known.name === cluster.name ? { ...known, skipTLSVerify: true } : known,
    );
  }
  return config;
}

/** Why not is kept back: the parser quotes the file, credentials included. */
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
  const options: Parameters<KubeConfig["applyToHTTPSOptions"]>[0] = {};
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

function pem(name: "ca" | "cert" | "key", value: unknown): { readonly [part: string]: string } {
  return value === undefined || value === null ? {} : { [name]: String(value) };
}
