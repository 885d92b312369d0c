// Operators as users of their own, so that an audit log tells their requests apart; and what they wrote.

import type { TestApiServer } from "./api-server.ts";
import type { AuditedRequest } from "./api-server-audit.ts";

export interface OperatorUser {
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** A service account that may do anything. */
export async function operatorUserOf(server: TestApiServer, serviceAccount: string): Promise<OperatorUser> {
  const user = { namespace: "jsonplane-system", serviceAccount };
  const subject = `--serviceaccount=${user.namespace}:${serviceAccount}`;
  await server.token(user);
  await server.kubectl(["create", "clusterrolebinding", serviceAccount, "--clusterrole=cluster-admin", subject]);
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
