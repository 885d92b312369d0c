// Turns one Project's objects and Secrets into everything secret that compile needs: the signing ring, password hashes and
// key hashes, the Secrets to write first, and the facts for each object's status.

import { createSecretKey } from "node:crypto";
import type { ProjectParts, SigningRing } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { Credentials, Resolved } from "../model/credentials.ts";
import type { ApiKey, ProjectUser } from "../model/objects.ts";
import { adoptAnnotation, isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { ownSecretNames } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import { earliest, type FindSecret, type Resolution, type ResolveTools, type Restore } from "./resolution.ts";
import { type KeyStatus, resolveKey } from "./resolve-key.ts";
import { resolveSigning } from "./resolve-signing.ts";
import { resolveUser, type UserStatus } from "./resolve-user.ts";
import { entriesOf, type SecretWrite, writeOf, writtenSecret } from "./secret-write.ts";
import { sealingOf, usableSecret } from "./usable-secret.ts";

export interface ProjectResolution {
  readonly signing: Result<SigningRing>;
  readonly credentials: Credentials;
  /** The Project's own first: MACs of passwords in its children's records are made with its projectKey. */
  readonly writes: readonly SecretWrite[];
  /** To be recorded once the writes are done. */
  readonly events: readonly CredentialEvent[];
  /** By UID of the object. */
  readonly statuses: ReadonlyMap<string, KeyStatus | UserStatus>;
  /** True when the ring was lost: all sessions of the project end. */
  readonly ringReplaced: boolean;
  /** A new signing key waits: resolve again once every live replica has acknowledged what this leads to. */
  readonly signingRingWaits: boolean;
  /** Unix milliseconds: the earliest moment at which resolving again gives something else although nothing was edited. */
  readonly nextAt?: number;
  /** Secrets of some objects are left for when the Project is resolved again, and some of those of now were written. */
  readonly hasLaterWrites?: true;
}

export interface ProjectTools extends Omit<ResolveTools, "projectKey" | "isProjectKeyWritten" | "restore"> {
  /** A person has allowed that every Secret is used, whoever made it. */
  readonly restoresAll: boolean;
  /** Users, and keys, whose Secrets may be written; absent = all. */
  readonly maxWritten?: number;
  /** Every live replica has acknowledged the revision that published `published.signing`: a new key may sign. */
  readonly ringAcknowledged: boolean;
}

/** Answers without any credential while there is no Project to make them for. `published` = what is published now. */
export async function resolveProject(
  objects: ProjectObjects,
  published: ProjectParts | undefined,
  given: ProjectTools,
): Promise<ProjectResolution> {
  const { project } = objects;
  const tools = { ...given, restore: restoreOf(objects, given.restoresAll) };
  if (project === undefined || isDeleting(project)) return unresolvedProject(objects.ref.name);
  const sameProject = published?.project.uid === project.metadata.uid;
  const isUnserved = !sameProject && objects.notAllowed?.has(project.metadata.uid) === true;
  // Left as it is, and its children too: what is served is what was published, and nothing is made or rotated.
  if (project.spec.suspend || isUnserved) {
    return { ...unresolvedProject(objects.ref.name), writes: takenOver(objects, tools) };
  }
  const signing = resolveSigning(project, sameProject ? published?.signing : undefined, tools);
  if (!signing.keys.ok) return { ...unresolvedProject(objects.ref.name), signing: signing.keys };
  const { signingRing, projectKey } = signing.keys.value;
  const decided = new Map(signing.writes.map((write) => [write.name, writtenSecret(write)]));
  const children = await resolveChildren(objects, published, {
    tools: {
      ...tools,
      findSecret: (name) => decided.get(name) ?? tools.findSecret(name),
      projectKey: createSecretKey(projectKey),
      isProjectKeyWritten: signing.writes.length > 0,
    },
    stored: tools.findSecret,
    decided,
  });
  const nextAt = earliest([signing.nextAt, ...children.moments], tools.now);
  return {
    signing: { ok: true, value: signingRing },
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

function restoreOf({ project, mayAdopt }: ProjectObjects, restoresAll: boolean): Restore {
  if (restoresAll) return "all";
  if (mayAdopt !== true) return "denied";
  return project?.metadata.annotations?.[adoptAnnotation] === "true" ? "asked" : "allowed";
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
  /** Their `findSecret` finds what was decided, too. */
  readonly tools: ResolveTools & Pick<ProjectTools, "maxWritten">;
  /** As they are in the cluster. */
  readonly stored: FindSecret;
  /** Each object finds what was decided for those before it: two that want a Secret of one name never write it in turns. */
  readonly decided: Map<string, Secret>;
}

async function resolveChildren(
  objects: ProjectObjects,
  published: ProjectParts | undefined,
  context: ChildrenContext,
): Promise<Children> {
  const { tools } = context;
  const publishedUsers = new Map([...(published?.users.values() ?? [])].map((config) => [config.uid, config]));
  const users = await resolveEach(objects.users, context, (user, isLate) =>
    resolveUser(user, publishedUsers.get(user.metadata.uid), isLate ? withoutMinting(tools) : tools),
  );
  const publishedKeys = Map.groupBy(published?.keys.values() ?? [], (config) => config.uid);
  const keys = await resolveEach(objects.keys, context, async (key) =>
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
    hasLaterWrites: all.some(({ resolution }) => resolution === later),
  };
}

/**
 * In order: where two objects want a Secret of one name, the first gets it, and the second's status says so. `isLate`: what it would write is left
 * for another pass.
 */
async function resolveEach<O extends ProjectUser | ApiKey, T>(
  objects: readonly O[],
  { tools, stored, decided }: ChildrenContext,
  resolve: (object: O, isLate: boolean) => Promise<Resolution<T, KeyStatus | UserStatus>>,
): Promise<readonly ResolvedObject<O, T>[]> {
  let left = tools.maxWritten ?? Number.POSITIVE_INFINITY;
  return await mapLimited(inTurn(objects), 1, async (object) => {
    const wanted = unlessImmutable(await resolve(object, left === 0), stored);
    const resolution = wanted.writes.length > 0 && left === 0 ? later : wanted;
    if (resolution.writes.length > 0) left -= 1;
    for (const write of resolution.writes) decided.set(write.name, writtenSecret(write));
    return { object, resolution };
  });
}

/** Who has a credential that may have leaked comes before those without one; whose Secret was refused the last time comes after all others. */
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

/** For what a pass does not write: a new password is thrown away, and so needs no true hash. */
function withoutMinting(tools: ResolveTools): ResolveTools {
  return {
    ...tools,
    hashPassword: async (password, cost) => (cost === undefined ? await tools.hashPassword(password) : ""),
  };
}

const later: Resolution<never, never> = {
  credential: refuse(
    "CredentialPending",
    "Its Secrets come after others of the Project; a former one works until then",
  ),
  writes: [],
  events: [],
};

function credentialsOf<O extends ProjectUser | ApiKey, T>(
  resolved: readonly ResolvedObject<O, T>[],
): ReadonlyMap<string, Resolved<T>> {
  return new Map(resolved.map(({ object, resolution }) => [object.metadata.name, resolution.credential]));
}

/** Of a Project that waits, which keeps what is taken over: a person says only once that this installation takes it. */
function takenOver(
  { project, users, keys }: ProjectObjects,
  tools: Omit<ResolveTools, "projectKey">,
): readonly SecretWrite[] {
  if (tools.restore !== "all") return [];
  const owners = [...(project === undefined ? [] : [project]), ...users, ...keys];
  return owners.flatMap((owner) =>
    ownSecretNames(owner).flatMap((name) => {
      const sealing = sealingOf(owner, tools);
      const secret = usableSecret(name, { sealing, tools, isPublished: false });
      const content = secret.ok && !secret.value.isMarked ? secret.value.content : undefined;
      return content === undefined ? [] : [writeOf(sealing, content, { name, entries: entriesOf(content) })];
    }),
  );
}

/** The API server refuses changes of an immutable Secret: the person who made it immutable has to delete it. */
function unlessImmutable<T, S>(resolution: Resolution<T, S>, findSecret: FindSecret): Resolution<T, S> {
  const stuck = resolution.writes.find(({ name }) => findSecret(name)?.immutable === true);
  if (stuck === undefined) return resolution;
  const message = `Secret "${stuck.name}" is immutable and has to change; delete it, and it is recreated`;
  return { credential: refuse("SecretConflict", message), writes: [], events: [] };
}

/** Nothing is decided of any credential, and nothing is written. */
export function unresolvedProject(projectName: string): ProjectResolution {
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
