// The five kinds of custom resources as `compile` reads them: structurally valid and with their defaults filled in.

import type { Access, Json, JsonObject, OperationAccess, Reach, Role } from "../../core/config/types.ts";

export interface ObjectMeta {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  /** Present while the object is being deleted. */
  readonly deletionTimestamp?: string;
  readonly generation?: number;
}

export type DeletionPolicy = "Retain" | "Delete";

interface CustomResource<K extends string, S> {
  readonly kind: K;
  readonly metadata: ObjectMeta;
  readonly spec: S;
}

export interface ProjectSpec {
  readonly authentication: { readonly policy: "Enabled" | "Disabled" };
  readonly hosts: readonly string[];
  readonly sessions: { readonly accessTokenTTL: string; readonly refreshTokenTTL: string };
  readonly limits: {
    readonly maxBodyBytes: number;
    readonly maxDocumentBytes: number;
    readonly maxPageSize: number;
    readonly anonymousWritesPerMinute: number;
  };
  readonly cors: { readonly allowedOrigins: readonly string[]; readonly maxAge: string };
  readonly serving: "ReadWrite" | "ReadOnly" | "Off";
  readonly suspend: boolean;
  readonly deletionPolicy: DeletionPolicy;
}

export interface ProjectReference {
  readonly name: string;
}

export interface ApiResourceSpec {
  readonly projectRef: ProjectReference;
  readonly resourceName?: string;
  readonly schema: JsonObject;
  readonly indexes?: readonly string[];
  readonly access: OperationAccess & { readonly scope: { readonly read: Reach; readonly write: Reach } };
  readonly limits: { readonly maxObjects: number };
  readonly deletionPolicy?: DeletionPolicy;
}

export interface ProjectUserSpec {
  readonly projectRef: ProjectReference;
  readonly username?: string;
  readonly passwordSecretRef?: { readonly name: string; readonly key: string };
  readonly role: Role;
  readonly access: Access;
  readonly rotation?: { readonly id: string };
}

export interface ApiKeySpec {
  readonly projectRef: ProjectReference;
  readonly description?: string;
  readonly role: Role;
  readonly access: Access;
  readonly secretName?: string;
  readonly rotation?: { readonly id: string; readonly gracePeriod: string };
  readonly expiresAt?: string;
}

export interface RootKeySpec {
  readonly projectRef: ProjectReference;
  readonly key?: string;
  readonly initialValue?: Json;
  readonly access: OperationAccess;
  readonly deletionPolicy?: DeletionPolicy;
}

export type Project = CustomResource<"Project", ProjectSpec>;
export type ApiResource = CustomResource<"ApiResource", ApiResourceSpec>;
export type ProjectUser = CustomResource<"ProjectUser", ProjectUserSpec>;
export type ApiKey = CustomResource<"ApiKey", ApiKeySpec>;
export type RootKey = CustomResource<"RootKey", RootKeySpec>;

/** A custom resource that belongs to a Project. */
export type Child = ApiResource | ProjectUser | ApiKey | RootKey;
export type Kind = (Project | Child)["kind"];
