// The five kinds as `compile` reads them: structurally valid, defaults filled in, and known to the
// cluster (or to the dev mode that stands in for one), so that each has a UID and an age.

import type { ApiKey as ApiKeyManifest } from "../../core/manifests/generated/apikey.generated.ts";
import type { ApiResource as ApiResourceManifest } from "../../core/manifests/generated/apiresource.generated.ts";
import type { Project as ProjectManifest } from "../../core/manifests/generated/project.generated.ts";
import type { ProjectUser as ProjectUserManifest } from "../../core/manifests/generated/projectuser.generated.ts";
import type { RootKey as RootKeyManifest } from "../../core/manifests/generated/rootkey.generated.ts";
import type { ObjectMeta } from "../../core/manifests/object.ts";

/** `metadata` with what the API server fills in. */
export interface StoredMeta extends ObjectMeta {
  readonly uid: string;
  readonly creationTimestamp: string;
}

/** A manifest as the API server gives it back. */
export type Stored<M extends { readonly metadata: ObjectMeta }> = Omit<M, "metadata"> & {
  readonly metadata: StoredMeta;
};

export type Project = Stored<ProjectManifest>;
export type ApiResource = Stored<ApiResourceManifest>;
export type ProjectUser = Stored<ProjectUserManifest>;
export type ApiKey = Stored<ApiKeyManifest>;
export type RootKey = Stored<RootKeyManifest>;

/** A custom resource that belongs to a Project. */
export type Child = ApiResource | ProjectUser | ApiKey | RootKey;
export type CustomResource = Project | Child;
/** A custom resource that data are stored for. */
export type DataObject = ApiResource | RootKey;
export type DeletionPolicy = Project["spec"]["deletionPolicy"];

export function isDataObject(object: CustomResource): object is DataObject {
  return object.kind === "ApiResource" || object.kind === "RootKey";
}
