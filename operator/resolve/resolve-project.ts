// Turns one Project's objects and Secrets into everything secret that compile needs: the signing ring, password hashes and
// key hashes, the Secrets to write first, and the facts for each object's status.

import type { ProjectParts, SigningRing } from "../../core/config/types.ts";
import type { Credentials, LiveKeys, PasswordCredential, Resolved } from "../credentials.ts";
import type { ProjectObjects } from "../project-objects.ts";
import { type Judged, refuse } from "../verdict.ts";
import type { ResolveTools } from "./resolution.ts";
import { type KeyStatus, resolveKey } from "./resolve-key.ts";
import { type ProjectKeys, resolveSigning } from "./resolve-signing.ts";
import { resolveUser, type UserStatus } from "./resolve-user.ts";
import type { SecretWrite } from "./secret-write.ts";

export interface ProjectResolution {
  readonly signing: Judged<SigningRing>;
  readonly credentials: Credentials;
  /** In order: a record is sealed with the key that an earlier write keeps. */
  readonly writes: readonly SecretWrite[];
  /** By UID of the object. */
  readonly statuses: ReadonlyMap<string, KeyStatus | UserStatus>;
  /** True when the ring was lost: all sessions of the project end. */
  readonly ringReplaced: boolean;
}

/** Answers without any credential while there is no Project to make them for. `previous` = what is published now. */
export async function resolveProject(
  objects: ProjectObjects,
  previous: ProjectParts | undefined,
  tools: Omit<ResolveTools, "projectKey">,
): Promise<ProjectResolution> {
  const { project } = objects;
  if (project === undefined || project.metadata.deletionTimestamp !== undefined) return nothing(objects.ref.name);
  const sameProject = previous?.project.uid === project.metadata.uid;
  const signing = resolveSigning(project, sameProject ? previous?.signing : undefined, tools);
  if (!signing.keys.ok) return { ...nothing(objects.ref.name), signing: signing.keys };
  const children = await resolveChildren(objects, previous, { ...tools, projectKey: signing.keys.value.projectKey });
  return {
    signing: ringOf(signing.keys.value),
    ...children,
    writes: [...signing.writes, ...children.writes],
    ringReplaced: signing.replaced,
  };
}

type Children = Pick<ProjectResolution, "credentials" | "writes" | "statuses">;

async function resolveChildren(
  objects: ProjectObjects,
  previous: ProjectParts | undefined,
  tools: ResolveTools,
): Promise<Children> {
  const standing = <T extends { readonly metadata: { readonly deletionTimestamp?: string } }>(
    list: readonly T[],
  ): readonly T[] => list.filter((object) => object.metadata.deletionTimestamp === undefined);
  const publishedUsers = [...(previous?.users.values() ?? [])];
  const publishedKeys = [...(previous?.keys.values() ?? [])];
  const resolvedUsers = await Promise.all(
    standing(objects.users).map(async (user) => {
      const { uid } = user.metadata;
      const published = publishedUsers.find((config) => config.uid === uid);
      return { object: user, resolution: await resolveUser(user, published, tools) };
    }),
  );
  const resolvedKeys = standing(objects.keys).map((key) => {
    const published = publishedKeys.filter((config) => config.uid === key.metadata.uid);
    return { object: key, resolution: resolveKey(key, published, tools) };
  });
  const users = new Map<string, Resolved<PasswordCredential>>();
  const keys = new Map<string, Resolved<LiveKeys>>();
  const statuses = new Map<string, KeyStatus | UserStatus>();
  const writes: SecretWrite[] = [];
  for (const { object, resolution } of resolvedUsers) {
    users.set(object.metadata.name, resolution.credential);
    writes.push(...resolution.writes);
    if (resolution.status !== undefined) statuses.set(object.metadata.uid, resolution.status);
  }
  for (const { object, resolution } of resolvedKeys) {
    keys.set(object.metadata.name, resolution.credential);
    writes.push(...resolution.writes);
    if (resolution.status !== undefined) statuses.set(object.metadata.uid, resolution.status);
  }
  return { credentials: { users, keys }, writes, statuses };
}

function ringOf({ ring }: ProjectKeys): Judged<SigningRing> {
  return { ok: true, value: ring };
}

function nothing(projectName: string): ProjectResolution {
  return {
    signing: refuse("ProjectNotFound", `There is no Project "${projectName}" to make credentials for`),
    credentials: { users: new Map(), keys: new Map() },
    writes: [],
    statuses: new Map(),
    ringReplaced: false,
  };
}
