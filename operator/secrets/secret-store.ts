// Reads and writes Secrets for the resolve stage: its own from the watched cache, foreign ones by GET, once per version.
// A write is refused with SecretChanged when the Secret is no longer the one that the write was decided from, and with
// NamespaceTerminating when the namespace is being deleted.

import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Secret } from "../../core/manifests/object.ts";
import { mapLimited } from "../../core/map-limited.ts";
import { isConflict, isNamespaceTerminating, isNotFound, type KubeObject, type ObjectName } from "../kube/api.ts";
import { createRepairs, SecretContested } from "../kube/repairs.ts";
import { secretType } from "../kube/resource-types.ts";
import type { Installation } from "../model/installation.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import {
  hasLabelsOf,
  installationAnnotation,
  kindLabel,
  nameLabel,
  ownerAnnotation,
  ownSecretNames,
  signingSecretName,
} from "../model/secret-names.ts";
import type { FindSecret, FoundSecret, ResolveTools } from "../resolve/resolution.ts";
import type { SecretWrite } from "../resolve/secret-write.ts";
import type { Watched } from "../watch/watched.ts";
import { changedSecret, newSecret, secretChanged, secretOf, unreadSecret, weightOf } from "./secret-object.ts";
import { createSecretOwnership, type SecretOwnershipDeps } from "./secret-ownership.ts";
import { referencedSecretNames, secretNamesOf } from "./secret-users.ts";

export interface PreparedSecrets extends Pick<ResolveTools, "sealKey" | "installation" | "restoresAll"> {
  /** Knows the Secrets that may matter to the Project, and throws at other names. */
  readonly find: FindSecret;
  /** The other installation that looks after the Project; absent = this one does. */
  readonly rival?: Installation;
}

export interface SecretStore {
  /** Reads whatever Secret may matter to a Project. */
  prepare(objects: ProjectObjects): Promise<PreparedSecrets>;
  /** The other installation that looks after the Project and may still exist, even if this one is to take the Project over. */
  holderOf(objects: ProjectObjects): Promise<Installation | undefined>;
  /** Throws SecretChanged, SecretContested, NamespaceTerminating, or the failure of the API server. */
  write(write: SecretWrite): Promise<void>;
  /** What this installation names itself on what it makes; undefined = not known yet. */
  installation(): string | undefined;
  /** The other installation of this name, if it may still exist. */
  rivalNamed(name: string): Promise<Installation | undefined>;
}

export interface SecretStoreDeps extends SecretOwnershipDeps {
  /** Secrets with the label app.kubernetes.io/managed-by=jsonplane. */
  readonly own: Watched;
  /** Metadata of all other Secrets. */
  readonly foreign: Watched;
  /** Secret key of this installation; known once its Redis was open, which a pass does before it reads Secrets. */
  readonly sealKey: () => KeyObject | undefined;
  /** Runs every write of a Secret; by default it is only called. */
  readonly writing?: (secret: ObjectName, write: () => Promise<KubeObject>) => Promise<KubeObject>;
}

/** Nothing can be made in the namespace any more. Its objects go, and then nothing is left to do. */
export class NamespaceTerminating extends Error {
  override readonly name = "NamespaceTerminating";
}

const maxCachedBytes = 32 * 1024 * 1024;
const readsAtATime = 16;

export function createSecretStore(deps: SecretStoreDeps): SecretStore {
  const { api, own, foreign, writing = (_, send) => send() } = deps;
  const repairs = createRepairs(deps.monotonic);
  /** Foreign Secrets that were read, by `<namespace>/<name>`. */
  const cache = new LRUCache<string, Secret>({ maxSize: maxCachedBytes, sizeCalculation: weightOf });

  const readForeign = async (metadata: KubeObject): Promise<Secret | undefined> => {
    const { namespace, name, resourceVersion } = metadata.metadata;
    const key = `${namespace}/${name}`;
    const known = cache.get(key);
    if (known?.metadata.resourceVersion === resourceVersion) return known;
    const object = await api.get(secretType, { namespace, name });
    if (object === undefined) return void cache.delete(key);
    const secret = secretOf(object);
    cache.set(key, secret);
    return secret;
  };

  /** A foreign Secret that has the name of an own one is not read: only its existence matters. */
  const read = async (namespace: string, name: string, referenced: boolean): Promise<Secret | undefined> => {
    const ours = own.get(namespace, name);
    if (ours !== undefined) return referenced ? await readForeign(ours) : secretOf(ours);
    const metadata = foreign.get(namespace, name);
    if (metadata === undefined) return undefined;
    return referenced || isLabelled(metadata) ? await readForeign(metadata) : unreadSecret(metadata);
  };

  const ownership = createSecretOwnership(deps);

  const readSigning = async ({ ref, project }: ProjectObjects): Promise<Secret | undefined> =>
    project === undefined ? undefined : await read(ref.namespace, signingSecretName(project), false);

  const rivalOf = async (objects: ProjectObjects, signing: Secret | undefined): Promise<Installation | undefined> =>
    objects.project && (await ownership.rivalOf(objects.project, projectSecrets(own, objects, signing)));

  const found = async (secret: Secret | undefined): Promise<FoundSecret | undefined> => {
    if (secret?.metadata.annotations?.[installationAnnotation] === undefined) return secret;
    const heldBy = await ownership.holderOf(secret);
    return heldBy === undefined ? secret : { ...secret, heldBy };
  };

  return {
    installation: ownership.name,
    rivalNamed: ownership.holderNamed,
    holderOf: async (objects) =>
      await ownership.holderOfProject(objects.project, projectSecrets(own, objects, await readSigning(objects))),
    async prepare(objects) {
      const { namespace } = objects.ref;
      const referenced = hasLogins(objects) ? referencedSecretNames(objects) : noNames;
      const signing = await readSigning(objects);
      const rival = await rivalOf(objects, signing);
      const installation = ownership.name();
      const sealKey = deps.sealKey();
      if (sealKey === undefined) throw new Error("The key that seals Secrets is not known yet");
      const restoresAll = deps.adopt && rival === undefined;
      const isManaged = restoresAll || (signing !== undefined && ownership.isOurs(signing));
      const names = [...new Set([...secretNamesOf(objects), ...referenced])];
      const reads = await mapLimited(names, readsAtATime, async (name) => {
        const secret = await read(namespace, name, referenced.has(name));
        return [name, isManaged ? secret : await found(secret)] as const;
      });
      const secrets: ReadonlyMap<string, FoundSecret | undefined> = new Map(reads);
      return {
        find(name) {
          if (!secrets.has(name)) throw new Error(`Secret "${name}" was not read before it was asked for`);
          return secrets.get(name);
        },
        ...(rival !== undefined && { rival }),
        sealKey,
        ...(installation !== undefined && { installation }),
        restoresAll,
      };
    },
    async write(write) {
      const { target, text } = repairOf(write);
      if (repairs.waitMs(target, text) > 0) throw contestedError(write.name);
      try {
        own.applyOwnWrite(await writing(write, () => send(write, deps)));
        repairs.wrote(target, text);
        const { [kindLabel]: kind, [nameLabel]: owner = "" } = write.labels;
        if (kind === "Project") ownership.wroteOwn({ namespace: write.namespace, name: owner });
      } catch (error) {
        throw toWriteError(error, write);
      }
    },
  };
}

/** The Secrets that say which installation manages a Project: its own, or where that was deleted, those of its children. */
function projectSecrets(
  own: Watched,
  { ref, users, keys }: ProjectObjects,
  signing: Secret | undefined,
): readonly Secret[] {
  if (signing !== undefined) return [signing];
  return [...users, ...keys].flatMap((owner) =>
    ownSecretNames(owner)
      .map((name) => own.get(ref.namespace, name))
      .filter((secret) => secret !== undefined)
      .map(secretOf)
      .filter((secret) => hasLabelsOf(owner, secret)),
  );
}

const noNames: ReadonlySet<string> = new Set();

/** Nobody logs in to a Project that goes or has gone, and what is served of it must not wait for Secrets that can't be read. */
function hasLogins({ project }: ProjectObjects): boolean {
  return project !== undefined && !isDeleting(project);
}

/** A write that was decided by an outdated view leaves the view as the API server has it. */
async function send(write: SecretWrite, { api, own }: Pick<SecretStoreDeps, "api" | "own">): Promise<KubeObject> {
  if (write.mode === "create") return await api.create(secretType, newSecret(write));
  const { namespace, name, resourceVersion } = write;
  const live = await api.get(secretType, { namespace, name });
  const known = own.get(namespace, name);
  if (live === undefined && known !== undefined) own.applyOwnDelete(known);
  if (live !== undefined && known !== undefined) own.applyOwnWrite(live);
  if (live?.metadata.resourceVersion !== resourceVersion) throw secretChanged(write);
  return await api.replace(secretType, changedSecret(live as KubeObject, write));
}

/** A recreated Secret counts as a repetition for the same object, whatever is in it: something else deletes it. */
function repairOf({ mode, namespace, name, ...write }: SecretWrite): {
  readonly target: string;
  readonly text: string;
} {
  const { annotations, entries, causeId } = write;
  const target = `${namespace}/${name}`;
  if (mode === "create") return { target: `${target} made`, text: annotations[ownerAnnotation] ?? "" };
  return { target, text: JSON.stringify(causeId === undefined ? [annotations, entries] : causeId) };
}

function contestedError(name: string): SecretContested {
  return new SecretContested(
    `Secret "${name}" keeps being changed by something else, and is repaired with increasing delays; look for another installation of jsonplane, or a tool that copies or restores Secrets`,
  );
}

function isLabelled({ metadata }: KubeObject): boolean {
  return metadata.labels?.[kindLabel] !== undefined;
}

function toWriteError(error: unknown, write: SecretWrite): unknown {
  if (isConflict(error) || isNotFound(error)) return secretChanged(write, error);
  if (!isNamespaceTerminating(error)) return error;
  return new NamespaceTerminating(`Namespace "${write.namespace}" is being deleted`, { cause: error });
}
