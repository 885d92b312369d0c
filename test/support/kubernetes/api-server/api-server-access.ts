// What tests do with a running Kubernetes API server, one of their own or one that others use at
// the same time: as which user, by kubectl or by requests, in which namespace. Nothing here stops
// the server or changes what others see of it.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import type { KubernetesPrograms } from "../../../../tools/parts/kubernetes.ts";
import { type KubectlOptions, kubectlOf } from "../kubectl.ts";
import { type AuditedRequest, auditedRequests } from "./api-server-audit.ts";
import type { ApiTarget } from "./api-server-call.ts";
import { applyManifests, ensureNamespace, serviceAccountToken } from "./api-server-objects.ts";
import { adminToken, type StaticUser, type TestUser, userName, writeKubeconfig } from "./api-server-users.ts";

/** Where a server runs and where its files are: everything that another process needs to use it. */
export interface ServerLocation {
  readonly dir: string;
  readonly programs: KubernetesPrograms;
  readonly url: string;
  /** Path of the certificate that the server shows, which is its own authority. */
  readonly certificate: string;
  readonly audit: boolean;
  readonly users: readonly StaticUser[];
}

/** A server of one file or of the whole run. */
export interface TestApiServer extends ApiTarget {
  readonly certificate: string;
  readonly programs: KubernetesPrograms;
  /** Path of a kubeconfig file of that user. */
  kubeconfig(user?: TestUser): Promise<string>;
  /**
   * Runs kubectl to its end as the administrator or another; rejects when it fails, with what it
   * said.
   */
  kubectl(args: readonly string[], options?: KubectlOptions & { readonly as?: TestUser }): Promise<string>;
  /** Server-side apply of one or more documents, in their order. */
  apply(yaml: string, options?: { readonly namespace?: string }): Promise<void>;
  /** Makes a namespace of a name that nothing else has, and returns the name. */
  namespace(prefix?: string): Promise<string>;
  /** Requests that were answered, oldest first; needs `audit`. */
  requests(user: TestUser): Promise<readonly AuditedRequest[]>;
}

/**
 * Connections that nobody uses any more are closed before the server closes them, after 90 seconds.
 */
const unusedMilliseconds = 30_000;

/** The server has to be up: its certificate is read. */
export function accessTo(location: ServerLocation): TestApiServer {
  const files = new Map<string, Promise<string>>();
  const tokens = new Map<string, Promise<string>>();
  const agent = new Agent({ ca: readFileSync(location.certificate), keepAlive: true, timeout: unusedMilliseconds });
  const findToken = async (user: TestUser): Promise<string> => {
    if (user === "admin") return adminToken;
    if ("serviceAccount" in user) return serviceAccountToken(target, user.namespace, user.serviceAccount);
    const known = location.users.find(({ name }) => name === user.user);
    if (!known) throw new Error(`The server was told of no user ${user.user}`);
    return known.token;
  };
  const target: ApiTarget = {
    url: location.url,
    agent,
    token(user = "admin") {
      const name = userName(user);
      const secret = tokens.get(name) ?? findToken(user);
      tokens.set(name, secret);
      return secret;
    },
  };
  const kubeconfig = (user: TestUser = "admin"): Promise<string> => {
    const name = userName(user);
    const file = files.get(name) ?? target.token(user).then((secret) => writeKubeconfig(location, name, secret));
    files.set(name, file);
    return file;
  };
  return {
    ...target,
    certificate: location.certificate,
    programs: location.programs,
    kubeconfig,
    async kubectl(args, { as = "admin", ...how } = {}) {
      return kubectlOf(location.programs.kubectl, await kubeconfig(as)).run(args, how);
    },
    apply: (yaml, { namespace } = {}) => applyManifests(target, yaml, namespace),
    async namespace(prefix = "test") {
      const name = `${prefix}-${randomUUID().slice(0, 8)}`;
      await ensureNamespace(target, name);
      return name;
    },
    async requests(user) {
      if (!location.audit) throw new Error("This server writes no requests down: it was started without audit");
      return auditedRequests(location.dir, userName(user));
    },
  };
}
