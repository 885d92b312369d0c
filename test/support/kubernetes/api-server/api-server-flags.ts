// The arguments that etcd, kube-apiserver and kube-controller-manager are started with in tests:
// small, on 127.0.0.1, without waiting for disks.

import { join } from "node:path";
import type { ServerLocation } from "./api-server-access.ts";
import { auditLog, auditPolicy } from "./api-server-audit.ts";
import { serviceAccountKey, tokensFile } from "./api-server-users.ts";

/** What the programs of one test server are started with. */
export interface ServerPlan extends ServerLocation {
  readonly port: number;
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly further: readonly string[];
  /** Removes the folder. */
  remove(): Promise<void>;
}

const host = "127.0.0.1";

export function etcdArgs({ dir, etcdPort, etcdPeerPort }: ServerPlan): readonly string[] {
  const clients = `http://${host}:${etcdPort}`;
  const peers = `http://${host}:${etcdPeerPort}`;
  return [
    ...["--data-dir", join(dir, "etcd")],
    ...["--listen-client-urls", clients, "--advertise-client-urls", clients],
    ...["--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", `default=${peers}`],
    // A test's data need not outlive a power cut.
    "--unsafe-no-fsync",
  ];
}

export function serverArgs(plan: ServerPlan): readonly string[] {
  const { dir, port, etcdPort, audit, further } = plan;
  const key = serviceAccountKey(dir);
  return [
    ...["--etcd-servers", `http://${host}:${etcdPort}`, "--secure-port", String(port), "--bind-address", host],
    // The certificate that the server makes for itself holds the address that it advertises.
    ...["--advertise-address", host, "--endpoint-reconciler-type", "none", "--cert-dir", join(dir, "certificates")],
    ...["--service-account-key-file", key, "--service-account-signing-key-file", key],
    ...["--service-account-issuer", "https://kubernetes.default.svc", "--service-cluster-ip-range", "10.96.0.0/16"],
    ...["--token-auth-file", tokensFile(dir), "--authorization-mode", "RBAC"],
    ...(audit ? auditArgs(dir) : []),
    ...further,
  ];
}

/** Blocking: a request is in the file when its answer is out. */
function auditArgs(dir: string): readonly string[] {
  return ["--audit-policy-file", auditPolicy(dir), "--audit-log-path", auditLog(dir), "--audit-log-mode", "blocking"];
}

export function controllerArgs(
  kubeconfig: string,
  controllers: readonly string[],
  { dir, port }: { readonly dir: string; readonly port: number },
): readonly string[] {
  return [
    ...["--kubeconfig", kubeconfig, "--controllers", controllers.join(",")],
    ...["--leader-elect=false", "--bind-address", host, "--secure-port", String(port)],
    ...["--cert-dir", join(dir, "controller-certificates")],
    ...["--authorization-always-allow-paths", "/healthz"],
  ];
}
