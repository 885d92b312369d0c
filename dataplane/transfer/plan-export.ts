// What an export has: decided from the query, the configuration and the caller. Refuses callers who
// are not Administrators with 401 and 403, and what can't be exported with `invalid_parameter`.

import { requirePermission } from "../authorize/authorize.ts";
import type { LiveProject } from "../config/directory.ts";
import type { PlanBase, PlanInput, PlannedRequest } from "../operation/plan.ts";
import { type CollectionRef, collectionOf, type DocumentRef, documentOf } from "../store/ports/refs.ts";
import { type AskedExport, askedExport, invalid } from "./asked-export.ts";

export interface ExportPlan extends PlanBase {
  readonly kind: "export";
  readonly asked: AskedExport;
  readonly collections: readonly ExportSource<CollectionRef>[];
  readonly documents: readonly ExportSource<DocumentRef>[];
}

export type ExportRequest = PlannedRequest<ExportPlan>;

/** A resource or root key. */
export interface ExportSource<Ref = CollectionRef | DocumentRef> {
  /** `api/<resource>` or `json/<root key>`. */
  readonly name: string;
  /** Of the ApiResource or RootKey. */
  readonly uid: string;
  readonly of: Ref;
}

export function planExport({ project, caller, query }: PlanInput): ExportPlan {
  requirePermission(project.config, "Administrators", "read", caller);
  const asked = askedExport(query);
  const plan = {
    kind: "export",
    ...{ project, caller, isWrite: false, usesStoredData: true, asked },
    collections: collectionsOf(project, asked),
    documents: documentsOf(project, asked),
  } as const;
  for (const { of } of [...plan.collections, ...plan.documents]) {
    const config = "resource" in of ? project.resources.get(of.resource)?.config : project.rootKeys.get(of.rootKey);
    requirePermission(project.config, config?.access.read ?? "Nobody", "read", caller);
  }
  requireReached(plan);
  return plan;
}

function collectionsOf(project: LiveProject, asked: AskedExport): ExportPlan["collections"] {
  const { config, resources } = project;
  const all = [...resources.values()].filter((each) => each.config.access.read !== "Nobody");
  const names = isAll(asked) ? all.map((each) => each.config.name) : asked.resources;
  return inOrder(names).map((name) => {
    const resource = resources.get(name);
    if (resource === undefined) throw invalid(`The project has no ApiResource \`${name}\``);
    return { name: `api/${name}`, uid: resource.config.uid, of: collectionOf(config, resource) };
  });
}

/** An owner has objects only. */
function documentsOf({ config, rootKeys }: LiveProject, asked: AskedExport): ExportPlan["documents"] {
  const all = asked.owner === undefined ? [...rootKeys.values()].filter(({ access }) => access.read !== "Nobody") : [];
  const names = isAll(asked) ? all.map(({ key }) => key) : asked.rootKeys;
  return inOrder(names).map((name) => {
    const rootKey = rootKeys.get(name);
    if (rootKey === undefined) throw invalid(`The project has no RootKey \`${name}\``);
    return { name: `json/${name}`, uid: rootKey.uid, of: documentOf(config, rootKey) };
  });
}

function isAll({ resources, rootKeys }: AskedExport): boolean {
  return resources.length + rootKeys.length === 0;
}

function inOrder(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

/** What changed is known of all that is exported; and what came after is part of it. */
function requireReached({ asked: { since, after }, collections, documents }: ExportPlan): void {
  if (after !== undefined && !collections.some(({ of }) => of.resource === after.resource)) {
    throw invalid("`_after` names an object of a resource that is not exported");
  }
  if (since === undefined) return;
  const unlogged = [...collections, ...documents].find(({ name, of }) => of.changes === undefined || !since.has(name));
  if (unlogged === undefined) return;
  throw invalid(
    unlogged.of.changes === undefined
      ? `What has changed in \`${unlogged.name}\` is not known: it has no \`changes\` in its manifest. Leave it out by naming others with \`_resource\` and \`_rootKey\``
      : `The position says nothing of \`${unlogged.name}\`: make a whole export first, or leave it out by naming others with \`_resource\` and \`_rootKey\``,
  );
}
