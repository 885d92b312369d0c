// What distinguishes the five kinds, for whatever treats them alike: where a Project keeps its
// children of a kind, which field says the name that clients use, and whether data are stored for
// it. What else a further kind needs is listed in docs/ARCHITECTURE.md.

import { kinds } from "../../core/manifests/object.ts";
import type { ApiResource, Child, CustomResource, ProjectUser, RootKey } from "./objects.ts";

interface ChildKind {
  /** Where ProjectObjects, and what is published of a Project, have those of the kind. */
  readonly member: "resources" | "rootKeys" | "users" | "keys";
  /** What data inventories call the data of the kind; absent = it has none. */
  readonly data?: "resource" | "rootkey";
}

export const childKinds = {
  ApiResource: { member: "resources", data: "resource" },
  RootKey: { member: "rootKeys", data: "rootkey" },
  ProjectUser: { member: "users" },
  ApiKey: { member: "keys" },
} as const satisfies Readonly<Record<Child["kind"], ChildKind>>;

/** In the order of the table. */
export const childKindNames = Object.keys(childKinds) as readonly Child["kind"][];

export type DataKind = "ApiResource" | "RootKey";

export const dataKinds = childKindNames.filter((kind): kind is DataKind => "data" in childKinds[kind]);

/** Kinds whose objects may have the finalizer. */
export const finalizedKinds = kinds.filter(
  (kind) => kind === "Project" || (dataKinds as readonly string[]).includes(kind),
);

/** Children by kind, as ProjectObjects has them. */
export interface ChildrenByKind {
  readonly resources: readonly ApiResource[];
  readonly rootKeys: readonly RootKey[];
  readonly users: readonly ProjectUser[];
  readonly keys: readonly Extract<Child, { readonly kind: "ApiKey" }>[];
}

export function childrenByKind(children: Iterable<CustomResource>): ChildrenByKind {
  const byKind = { resources: [], rootKeys: [], users: [], keys: [] } as Record<ChildKind["member"], Child[]>;
  for (const child of children) if (child.kind !== "Project") byKind[childKinds[child.kind].member].push(child);
  return byKind as unknown as ChildrenByKind;
}

/** The segment after `/api/`. */
export function resourceNameOf({ spec, metadata }: ApiResource): string {
  return spec.resourceName ?? metadata.name;
}

/** The segment after `/json/`. */
export function rootKeyOf({ spec, metadata }: RootKey): string {
  return spec.key ?? metadata.name;
}

/** The name that logs in, and the creator of what the user makes. */
export function usernameOf({ spec, metadata }: ProjectUser): string {
  return spec.username ?? metadata.name;
}
