// Turns one Project's objects and Secrets into everything secret that compile needs: the signing
// ring, hashes of passwords and keys, the Secrets to write first, and facts for statuses.

import type { CompiledProject, SigningRing } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { Credentials, Resolved } from "../model/credentials.ts";
import type { ApiKey, ProjectUser } from "../model/objects.ts";
import { adoptAnnotation, isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { ownSecretNames } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import { type KeyStatus, resolveKey } from "./key.ts";
import { ownSecret, writeOf, writtenSecret } from "./own-secret.ts";
import {
  deferred,
  earliest,
  type FindSecret,
  type Resolution,
  type ResolveTools,
  type SecretWrite,
  unresolved,
} from "./resolution.ts";
import { resolveSigning } from "./signing.ts";
import { resolveUser, type UserStatus } from "./user.ts";

export interface ProjectResolution {
  readonly signing: Result<SigningRing>;
  readonly credentials: Credentials;
  readonly writes: readonly SecretWrite[];
  /** To be recorded once the writes are done. */
  readonly events: readonly CredentialEvent[];
  /** By UID of the object. */
  readonly statuses: ReadonlyMap<string, KeyStatus | UserStatus>;
  /** The ring was lost: all sessions of the Project end. */
  readonly ringReplaced: boolean;
  /**
   * A new signing key waits: resolve again once every live replica has acknowledged what follows.
   */
  readonly signingRingWaits: boolean;
  /** Unix milliseconds: when resolving gives another result although nothing was edited. */
  readonly nextAt?: number;
  /** Some objects had to wait: resolve again once the writes are done. */
  readonly hasLaterWrites?: true;
}

export interface ProjectTools extends Omit<ResolveTools, "restore"> {
  /** --adopt-data: every Secret is used, whoever made it. */
  readonly restoresAll: boolean;
  /** Users, and keys, whose Secrets may be written; absent = all. */
  readonly maxWritten?: number;
  /** Every live replica has acknowledged the revision that published `published.signing`. */
  readonly ringAcknowledged: boolean;
}

/** Resolves nothing without a Project. `published`: what is published now. */
export async function resolveProject(
  objects: ProjectObjects,
  published: CompiledProject | undefined,
  given: ProjectTools,
): Promise<ProjectResolution> {
  const { project } = objects;
  const tools = { ...given, restore: restoreOf(objects, given.restoresAll) };
  if (project === undefined || isDeleting(project)) return unresolvedProject(objects.ref.name);
  const sameProject = published?.project.uid === project.metadata.uid;
  const isUnserved = !sameProject && objects.notAllowed?.has(project.metadata.uid) === true;
  // Left as it is, and its children too: what is served is what was published, and nothing is made
  // or rotated.
  if (project.spec.suspend || isUnserved) {
    return { ...unresolvedProject(objects.ref.name), writes: takenOver(objects, tools) };
  }
  const signing = resolveSigning(project, sameProject ? published?.signing : undefined, tools);
  if (!signing.ring.ok) return { ...unresolvedProject(objects.ref.name), signing: signing.ring };
  const children = await resolveChildren(objects, published, {
    tools,
    decided: new Map(signing.writes.map((write) => [write.name, writtenSecret(write)])),
  });
  const nextAt = earliest([signing.nextAt, ...children.moments], tools.now);
  return {
    signing: signing.ring,
    credentials: children.credentials,
    statuses: children.statuses,
    writes: [...signing.writes, ...children.writes],
    events: [...signing.events, ...children.events],
    ringReplaced: signing.replaced,
    signingRingWaits: signing.waits,
    ...(nextAt !== undefined && { nextAt }),
    ...(children.hasLaterWrites && { hasLaterWrites: true }),
  };
}

/**
 * Takes the place of `resolveProject` while Secrets can't be read or written: the ring stays as it
 * is published, and compile keeps the published credentials of objects, by UID.
 */
export function asPublished(projectName: string, published: CompiledProject | undefined): ProjectResolution {
  const nothing = unresolvedProject(projectName);
  return published === undefined ? nothing : { ...nothing, signing: { ok: true, value: published.signing } };
}

/** Nothing is decided of any credential, and nothing is written. */
function unresolvedProject(projectName: string): ProjectResolution {
  return {
    signing: refuse("ProjectNotFound", `There is no Project "${projectName}" to make credentials for`),
    credentials: { users: new Map(), keys: new Map() },
    writes: [],
    events: [],
    statuses: new Map(),
    ringReplaced: false,
    signingRingWaits: false,
  };
}

function restoreOf({ project, mayAdopt }: ProjectObjects, restoresAll: boolean): ResolveTools["restore"] {
  if (restoresAll) return "all";
  const isAsked = project?.metadata.annotations?.[adoptAnnotation] === "true";
  return isAsked && mayAdopt === true ? "asked" : "none";
}

interface Children extends Pick<ProjectResolution, "credentials" | "writes" | "events" | "statuses"> {
  readonly hasLaterWrites: boolean;
  readonly moments: readonly (number | undefined)[];
}

interface ResolvedObject<O, T> {
  readonly object: O;
  readonly resolution: Resolution<T, KeyStatus | UserStatus>;
}

interface ChildrenContext {
  readonly tools: ResolveTools & Pick<ProjectTools, "maxWritten">;
  /** What was decided for the objects before: two that want one Secret never write it in turns. */
  readonly decided: Map<string, Secret>;
}

async function resolveChildren(
  objects: ProjectObjects,
  published: CompiledProject | undefined,
  context: ChildrenContext,
): Promise<Children> {
  const publishedUsers = new Map([...(published?.users.values() ?? [])].map((config) => [config.uid, config]));
  const users = await resolveEach(objects.users, context, (user, tools) =>
    resolveUser(user, publishedUsers.get(user.metadata.uid), tools),
  );
  const publishedKeys = Map.groupBy(published?.keys.values() ?? [], (config) => config.uid);
  const keys = await resolveEach(objects.keys, context, async (key, tools) =>
    resolveKey(key, publishedKeys.get(key.metadata.uid) ?? [], tools),
  );
  const all = [...users, ...keys];
  const statuses = new Map<string, KeyStatus | UserStatus>();
  for (const { object, resolution } of all) {
    if (resolution.status !== undefined) statuses.set(object.metadata.uid, resolution.status);
  }
  return {
    credentials: { users: credentialsOf(users), keys: credentialsOf(keys) },
    writes: all.flatMap(({ resolution }) => resolution.writes),
    events: all.flatMap(({ resolution }) => resolution.events),
    statuses,
    moments: all.map(({ resolution }) => resolution.nextAt),
    hasLaterWrites: all.some(({ resolution }) => resolution.deferred === true),
  };
}

/** One after the other: of two that want one Secret, the first gets it, and the second says so. */
async function resolveEach<O extends ProjectUser | ApiKey, T>(
  objects: readonly O[],
  { tools, decided }: ChildrenContext,
  resolve: (object: O, tools: ResolveTools) => Promise<Resolution<T, KeyStatus | UserStatus>>,
): Promise<readonly ResolvedObject<O, T>[]> {
  const findSecret: FindSecret = (name) => decided.get(name) ?? tools.findSecret(name);
  const resolved: ResolvedObject<O, T>[] = [];
  let left = tools.maxWritten ?? Number.POSITIVE_INFINITY;
  for (const object of inTurn(objects)) {
    const given = { ...tools, findSecret, writesUsedUp: left === 0 };
    const wanted = unlessImmutable(await resolve(object, given), tools.findSecret);
    const resolution = wanted.writes.length > 0 && left === 0 ? deferred : wanted;
    if (resolution.writes.length > 0) left -= 1;
    for (const write of resolution.writes) decided.set(write.name, writtenSecret(write));
    resolved.push({ object, resolution });
  }
  return resolved;
}

/**
 * First those with a credential, which may have leaked; last those whose Secret was refused before.
 */
function inTurn<O extends ProjectUser | ApiKey>(objects: readonly O[]): readonly O[] {
  const rank = ({ status }: O): number => {
    if (wasRefused(status)) return 2;
    return status?.secretName === undefined ? 1 : 0;
  };
  const present = objects.filter((object) => !isDeleting(object));
  return present.toSorted((one, other) => rank(one) - rank(other));
}

function wasRefused(status: { readonly conditions?: readonly { readonly reason: string }[] } | undefined): boolean {
  return (status?.conditions ?? []).some(({ reason }) => reason === "SecretNotWritten");
}

function credentialsOf<O extends ProjectUser | ApiKey, T>(
  resolved: readonly ResolvedObject<O, T>[],
): ReadonlyMap<string, Resolved<T>> {
  return new Map(resolved.map(({ object, resolution }) => [object.metadata.name, resolution.credential]));
}

/** The Secrets of a Project that waits: a person asks only once to take all of them over. */
function takenOver(
  { project, users, keys }: ProjectObjects,
  tools: Parameters<typeof ownSecret>[2],
): readonly SecretWrite[] {
  if (tools.restore !== "all") return [];
  const owners = [...(project === undefined ? [] : [project]), ...users, ...keys];
  return owners.flatMap((owner) =>
    ownSecretNames(owner).flatMap((name) => {
      const secret = ownSecret(owner, name, tools, false);
      const content = secret.ok && !secret.value.hasOwnAnnotations ? secret.value.content : undefined;
      return content === undefined ? [] : [writeOf(owner, tools, content, { name, entries: entriesOf(content) })];
    }),
  );
}

function entriesOf({ data }: Secret): Readonly<Record<string, string>> {
  return Object.fromEntries([...data].map(([entry, bytes]) => [entry, Buffer.from(bytes).toString("utf8")]));
}

/**
 * The API server refuses changes of an immutable Secret: whoever made it immutable has to delete
 * it.
 */
function unlessImmutable<T, S>(resolution: Resolution<T, S>, findSecret: FindSecret): Resolution<T, S> {
  const stuck = resolution.writes.find(({ name }) => findSecret(name)?.immutable === true);
  if (stuck === undefined) return resolution;
  const message = `Secret "${stuck.name}" is immutable and has to change; delete it, and it is recreated`;
  return unresolved(refuse("SecretConflict", message));
}
