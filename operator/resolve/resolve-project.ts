// Turns one Project's objects and Secrets into everything secret that compile needs: the signing ring, password hashes and
// key hashes, the Secrets to write first, and the facts for each object's status.

import { createSecretKey } from "node:crypto";
import type { KeyConfig, ProjectParts, SigningRing, UserConfig } from "../../core/config/types.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { Credentials, LiveKeys, PasswordCredential, Resolved } from "../model/credentials.ts";
import type { Installation } from "../model/installation.ts";
import type { ApiKey, ProjectUser } from "../model/objects.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { ownSecretNames } from "../model/secret-names.ts";
import { type Result, refuse } from "../model/verdict.ts";
import type { CredentialEvent } from "./credential-event.ts";
import { earliest, type FindSecret, type Resolution, type ResolveTools } from "./resolution.ts";
import { type KeyStatus, resolveKey } from "./resolve-key.ts";
import { resolveSigning } from "./resolve-signing.ts";
import { resolveUser, type UserStatus } from "./resolve-user.ts";
import { entriesOf, type SecretWrite, writeOf, writtenSecret } from "./secret-write.ts";
import { sealingOf, usableSecret } from "./usable-secret.ts";

export interface ProjectResolution {
  readonly signing: Result<SigningRing>;
  readonly credentials: Credentials;
  /** In order: a record is sealed with the key that an earlier write keeps. */
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
  /** Some keys are made when the Project is resolved again. */
  readonly putsKeysOff?: true;
}

export interface ProjectTools extends Omit<ResolveTools, "projectKey" | "mayRestore"> {
  /** Keys whose Secrets may be written; absent = all. */
  readonly maxWrittenKeys?: number;
  /** Every live replica has acknowledged the revision that published `published.signing`: a new key may sign. */
  readonly ringAcknowledged: boolean;
  /** The other installation that looks after the Project; absent = this one does. */
  readonly rival?: Installation;
}

/** More than there are threads that hash passwords, so that none is idle. */
const usersAtATime = 16;

/** Answers without any credential while there is no Project to make them for. `published` = what is published now. */
export async function resolveProject(
  objects: ProjectObjects,
  published: ProjectParts | undefined,
  given: ProjectTools,
): Promise<ProjectResolution> {
  const { project } = objects;
  const tools = { ...given, mayRestore: objects.mayAdopt === true };
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
  const children = await resolveChildren(objects, published, {
    ...tools,
    findSecret: afterWrites(signing.writes, tools.findSecret),
    projectKey: createSecretKey(projectKey),
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
    ...(children.putsKeysOff && { putsKeysOff: true }),
  };
}

/** What was decided for one object is there for the next: two that want a Secret of one name never write it in turns. */
function afterWrites(writes: readonly SecretWrite[], findSecret: FindSecret): FindSecret {
  const written = new Map(writes.map((write) => [write.name, writtenSecret(write)]));
  return (name) => written.get(name) ?? findSecret(name);
}

interface Children extends Pick<ProjectResolution, "credentials" | "writes" | "events" | "statuses"> {
  readonly putsKeysOff: boolean;
  readonly moments: readonly (number | undefined)[];
}

interface ResolvedObject<O, T> {
  readonly object: O;
  readonly resolution: Resolution<T, KeyStatus | UserStatus>;
}

async function resolveChildren(
  objects: ProjectObjects,
  published: ProjectParts | undefined,
  tools: ResolveTools & Pick<ProjectTools, "maxWrittenKeys">,
): Promise<Children> {
  const users = await resolveUsers(
    objects.users.filter((user) => !isDeleting(user)),
    published?.users ?? new Map(),
    tools,
  );
  const written = users.flatMap(({ resolution }) => resolution.writes);
  const keys = await resolveKeys(
    objects.keys.filter((key) => !isDeleting(key)),
    published?.keys ?? new Map(),
    { tools, written },
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
    putsKeysOff: keys.some(({ resolution }) => resolution === putOff),
  };
}

function resolveUsers(
  users: readonly ProjectUser[],
  published: ReadonlyMap<string, UserConfig>,
  tools: ResolveTools,
): Promise<readonly ResolvedObject<ProjectUser, PasswordCredential>[]> {
  const byUid = new Map([...published.values()].map((config) => [config.uid, config]));
  return mapLimited(users, usersAtATime, async (user) => {
    const resolution = await resolveUser(user, byUid.get(user.metadata.uid), tools);
    return { object: user, resolution: unlessImmutable(resolution, tools.findSecret) };
  });
}

interface KeysContext {
  readonly tools: ResolveTools & Pick<ProjectTools, "maxWrittenKeys">;
  /** What was decided for other objects of this Project already. */
  readonly written: readonly SecretWrite[];
}

/** In order: where two objects want a Secret of one name, the first gets it, and the second's status says so. */
function resolveKeys(
  keys: readonly ApiKey[],
  published: ReadonlyMap<string, KeyConfig>,
  { tools, written }: KeysContext,
): Promise<readonly ResolvedObject<ApiKey, LiveKeys>[]> {
  const byUid = Map.groupBy(published.values(), (config) => config.uid);
  const writtenByName = new Map(written.map((write) => [write.name, writtenSecret(write)]));
  const findSecret: FindSecret = (name) => writtenByName.get(name) ?? tools.findSecret(name);
  let left = tools.maxWrittenKeys ?? Number.POSITIVE_INFINITY;
  return mapLimited(keys, 1, async (key) => {
    const resolved = resolveKey(key, byUid.get(key.metadata.uid) ?? [], { ...tools, findSecret });
    const decided = unlessImmutable(resolved, tools.findSecret);
    if (decided.writes.length > 0) left -= 1;
    const resolution = left < 0 && decided.writes.length > 0 ? putOff : decided;
    for (const write of resolution.writes) writtenByName.set(write.name, writtenSecret(write));
    return { object: key, resolution };
  });
}

const putOff: Resolution<LiveKeys, KeyStatus> = {
  credential: refuse("CredentialPending", "The key is made after others of the Project; a former one works until then"),
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
  if (!tools.restoresAll) return [];
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
