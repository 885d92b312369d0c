// Says what a publish took out of service: a whole Project, resources, root keys, users, keys,
// external issuers and ServiceAccounts. Pure: what was served, what is, and the objects and
// verdicts that explain the difference in; entries of the audit log out.

import type { CompiledProject, ServiceAccountGrant } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import type { CustomResource } from "../model/objects.ts";
import { allObjects, childrenOf, type ProjectObjects } from "../model/project-objects.ts";
import type { Verdict } from "../model/verdict.ts";
import type { AuditEntry } from "../observe/audit-log.ts";

export interface Withdrawing {
  readonly objects: ProjectObjects;
  /** Objects that the watch or a list reported as gone. */
  readonly deleted: readonly CustomResource[];
  /** What was served until now. */
  readonly published: CompiledProject | undefined;
  readonly served: CompiledProject | undefined;
  readonly verdicts: readonly Verdict[];
  readonly isNamespaceGone: boolean;
}

export function withdrawnBy(withdrawing: Withdrawing): readonly AuditEntry[] {
  const { published } = withdrawing;
  if (published === undefined) return [];
  return [
    ...projectWithdrawn(published, withdrawing),
    ...childrenWithdrawn(published, withdrawing),
    ...issuersWithdrawn(published, withdrawing),
    ...accountsWithdrawn(published, withdrawing),
  ];
}

/** The issuers of a Project that is still served: others are withdrawn with their Project. */
function issuersWithdrawn(
  { project: { namespace, name, uid }, issuers }: CompiledProject,
  { objects: { project }, served }: Withdrawing,
): readonly AuditEntry[] {
  if (served?.project.uid !== uid) return [];
  const named = new Set(project?.spec.authentication.issuers?.map((each) => each.name));
  return [...issuers.values()]
    .filter((issuer) => served.issuers.get(issuer.name)?.url !== issuer.url)
    .map((issuer) => {
      const why = named.has(issuer.name) ? "Refused" : "Removed";
      const facts = { kind: "Project", namespace, name, uid, issuer: issuer.name, url: issuer.url, why };
      return { action: "issuer_withdrawn", facts };
    });
}

/** ServiceAccounts of issuers that are still served: others are withdrawn with their issuer. */
function accountsWithdrawn({ project, issuers }: CompiledProject, { served }: Withdrawing): readonly AuditEntry[] {
  const { namespace, name, uid } = project;
  if (served?.project.uid !== uid) return [];
  return [...issuers.values()].flatMap((issuer) => {
    const { url, serviceAccounts } = served.issuers.get(issuer.name) ?? {};
    if (url !== issuer.url) return [];
    const left = new Set(serviceAccounts?.map(accountName));
    const gone = (issuer.serviceAccounts ?? []).map(accountName).filter((account) => !left.has(account));
    return gone.map((serviceAccount) => {
      const facts = { kind: "Project", namespace, name, uid, issuer: issuer.name, serviceAccount, why: "Removed" };
      return { action: "service_account_withdrawn" as const, facts };
    });
  });
}

function accountName({ namespace, name }: ServiceAccountGrant): string {
  return `${namespace}/${name}`;
}

function projectWithdrawn({ project, ...children }: CompiledProject, withdrawing: Withdrawing): readonly AuditEntry[] {
  const { served } = withdrawing;
  const { namespace, name, uid } = project;
  if (served?.project.uid === uid) return [];
  const { resources, rootKeys, users, keys } = children;
  const counts = { resources: resources.size, rootKeys: rootKeys.size, users: users.size, keys: keys.size };
  const facts = { kind: "Project", namespace, name, uid, ...counts, ...reasonOf(uid, withdrawing) };
  return [{ action: "project_withdrawn", facts }];
}

interface ServedChild {
  readonly kind: Exclude<Kind, "Project">;
  readonly action: "resource_withdrawn" | "credential_revoked";
  /** What clients call it. */
  readonly called: string;
  /** What it is served as: of the same object, another one may be. */
  readonly servedAs: string;
  readonly uid: string;
  /** What it lets in with, as it is published; absent = nothing. */
  readonly credential?: string;
}

function childrenWithdrawn(published: CompiledProject, withdrawing: Withdrawing): readonly AuditEntry[] {
  const { objects, deleted, served } = withdrawing;
  const now = served === undefined ? [] : servedChildren(served);
  const stillServed = new Set(now.map(({ servedAs, uid }) => `${servedAs} ${uid}`));
  const uids = new Set(now.map(({ uid }) => uid));
  const credentials = new Set(now.map(({ credential }) => credential));
  const known = new Map([...childrenOf(objects), ...deleted].map((object) => [object.metadata.uid, object.metadata]));
  const present = new Set(childrenOf(objects).map(({ metadata }) => metadata.uid));
  const { namespace, name: project } = published.project;
  return (
    servedChildren(published)
      .filter(({ servedAs, uid }) => !stillServed.has(`${servedAs} ${uid}`))
      // A restored credential still works, now for another object: it was not revoked.
      .filter(({ credential }) => credential === undefined || !credentials.has(credential))
      // Children that were withdrawn with their Project are counted in the Project's entry.
      .filter(({ uid }) => served !== undefined || !present.has(uid))
      .map(({ kind, action, called, uid }) => {
        const { name = called } = known.get(uid) ?? {};
        const why = uids.has(uid) ? { why: kind === "ApiKey" ? "Rotated" : "Renamed" } : reasonOf(uid, withdrawing);
        return { action, facts: { kind, namespace, name, uid, project, ...why } };
      })
  );
}

function servedChildren({ resources, rootKeys, users, keys }: CompiledProject): readonly ServedChild[] {
  return [
    ...[...resources].map(([name, { uid }]) => served("ApiResource", "resource_withdrawn", { called: name, uid })),
    ...[...rootKeys].map(([key, { uid }]) => served("RootKey", "resource_withdrawn", { called: key, uid })),
    ...[...users].map(([name, { uid, credentialRevision }]) => ({
      ...served("ProjectUser", "credential_revoked", { called: name, uid }),
      credential: `${name} ${credentialRevision}`,
    })),
    // A key is served as its hash, which is for comparison alone.
    ...[...keys].map(([sha256, { name, uid }]) => ({
      ...served("ApiKey", "credential_revoked", { called: name, uid, servedAs: sha256 }),
      credential: sha256,
    })),
  ];
}

function served(
  kind: ServedChild["kind"],
  action: ServedChild["action"],
  { called, uid, servedAs = called }: { readonly called: string; readonly uid: string; readonly servedAs?: string },
): ServedChild {
  return { kind, action, called, uid, servedAs: `${kind} ${servedAs}` };
}

/** A refused object's own reason; else it has gone, and since when where that was seen. */
function reasonOf(
  uid: string,
  { objects, deleted, verdicts, isNamespaceGone }: Withdrawing,
): { readonly why: string; readonly deletionTimestamp?: string } {
  const object = [...allObjects(objects), ...deleted].find(({ metadata }) => metadata.uid === uid);
  const { deletionTimestamp } = object?.metadata ?? {};
  const since = deletionTimestamp !== undefined && { deletionTimestamp };
  if (isNamespaceGone) return { why: "NamespaceDeleted", ...since };
  const verdict = verdicts.find((each) => each.uid === uid);
  const refused = verdict?.accepted === false && deletionTimestamp === undefined ? verdict.reason : undefined;
  return refused === undefined ? { why: "Deleted", ...since } : { why: refused };
}
