// What a test's API server wrote down about the requests of one user, as the verbs and resources
// that RBAC speaks of. The last, unfinished line of the file is left out.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface AuditedRequest {
  /** As RBAC says it: get, list, watch, create, update, patch, delete, … */
  readonly verb: string;
  /** `projects.jsonplane.io/status`, `secrets`, or a path such as `/version`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** The answer's status. */
  readonly code: number;
  /**
   * Whether RBAC let it pass: a 403 may also come from what the server checks afterwards, as in a
   * namespace that is going.
   */
  readonly authorized: boolean;
}

export const auditPolicy = (dir: string): string => join(dir, "audit-policy.yaml");
export const auditLog = (dir: string): string => join(dir, "audit.log");

/** Metadata: who asked for what, and no body, which could be a Secret. */
export async function writeAuditPolicy(dir: string): Promise<void> {
  const policy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    // A watch is answered long before it ends: its ResponseStarted counts; other requests have a
    // ResponseComplete.
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  };
  await writeFile(auditPolicy(dir), JSON.stringify(policy));
}

interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user?: { readonly username?: string };
  readonly responseStatus?: { readonly code?: number };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
}

/** One entry per request, in the order of their answers. */
export async function auditedRequests(dir: string, user: string): Promise<readonly AuditedRequest[]> {
  const text = await readFile(auditLog(dir), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  // Most lines of a shared server are about others, and need not be parsed.
  const named = JSON.stringify(user);
  const events = whole
    .split("\n")
    .filter((line) => line.includes(named))
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user?.username === user);
  // A watch that has ended is there twice.
  return [...new Map(events.map((event) => [event.auditID, requestOf(event)])).values()];
}

function requestOf({ verb, requestURI, objectRef, responseStatus, annotations }: AuditEvent): AuditedRequest {
  const path = requestURI.split("?")[0] ?? requestURI;
  return {
    verb,
    resource: objectRef?.resource === undefined ? path : resourceName(objectRef),
    namespace: objectRef?.namespace,
    name: objectRef?.name,
    code: responseStatus?.code ?? 0,
    authorized: annotations?.["authorization.k8s.io/decision"] !== "forbid",
  };
}

function resourceName({ apiGroup, resource, subresource }: NonNullable<AuditEvent["objectRef"]>): string {
  return `${resource}${apiGroup ? `.${apiGroup}` : ""}${subresource ? `/${subresource}` : ""}`;
}
