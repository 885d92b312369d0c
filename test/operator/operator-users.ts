// Operators as users of their own, so that an audit log tells their requests apart; and what they
// wrote.

import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import type { AuditedRequest } from "../support/kubernetes/api-server/api-server-audit.ts";

export interface OperatorUser {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A service account that may do anything. */
export async function operatorUserOf(
  server: TestApiServer,
  serviceAccount: string,
  namespace = "jsonplane-system",
): Promise<OperatorUser> {
  const user = { namespace, serviceAccount };
  await server.token(user);
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: `${user.namespace}-${serviceAccount}` },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ kind: "ServiceAccount", namespace: user.namespace, name: serviceAccount }],
  };
  await server.apply(JSON.stringify(binding));
  return user;
}

const readings: ReadonlySet<string> = new Set(["get", "list", "watch"]);

/** What the user wrote, or tried to, oldest first; needs a server with `audit`. */
export async function writesOf(server: TestApiServer, user: OperatorUser): Promise<readonly AuditedRequest[]> {
  return (await server.requests(user)).filter(({ verb }) => !readings.has(verb));
}

export function isLease({ resource }: AuditedRequest): boolean {
  return resource === "leases.coordination.k8s.io";
}
