// Reads and writes Secrets for the resolve stage: its own from the watched cache, foreign ones by
// GET, once per version. A write is refused with SecretChanged when the Secret is no longer the one
// that the write was decided from, and with NamespaceTerminating when the namespace is being
// deleted.

import type { KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Secret } from "../../core/manifests/object.ts";
import { mapLimited } from "../../core/map-limited.ts";
import type { Monotonic } from "../../core/timers.ts";
import { isConflict, isNamespaceTerminating, isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { secretType } from "../kube/objects.ts";
import { createRepairs, SecretContested } from "../kube/repairs.ts";
import { isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import { kindLabel, ownerAnnotation } from "../model/secret-names.ts";
import type { ProjectTools } from "../resolve/project.ts";
import type { FindSecret, SecretWrite } from "../resolve/resolution.ts";
import type { Watched } from "../watch/object-cache.ts";
import { changedSecret, newSecret, secretChanged, secretOf, unreadSecret, weightOf } from "./secret-object.ts";
import { referencedSecretNames, secretNamesOf } from "./secret-users.ts";

export interface PreparedSecrets extends Pick<ProjectTools, "hmacKey" | "restoresAll"> {
  /** Knows the Secrets that may matter to the Project, and throws at other names. */
  readonly find: FindSecret;
}

export interface SecretStore {
  /** Reads whatever Secret may matter to a Project. */
  prepare(objects: ProjectObjects): Promise<PreparedSecrets>;
  /**
   * Throws SecretChanged, SecretContested, NamespaceTerminating, or the failure of the API server.
   */
  write(write: SecretWrite): Promise<void>;
}

export interface SecretStoreDeps {
  readonly api: KubeApi;
  readonly monotonic: Monotonic;
  /** A person allows that every Secret is used, whoever made it. */
  readonly adopt: boolean;
  /** Secrets with the label app.kubernetes.io/managed-by=jsonplane. */
  readonly own: Watched;
  /** Metadata of all other Secrets. */
  readonly foreign: Watched;
  /**
   * Secret key of this installation; known once its Redis was open, which a pass does before it
   * reads Secrets.
   */
  readonly hmacKey: () => KeyObject | undefined;
}

/**
 * Nothing can be made in the namespace any more. Its objects go, and then nothing is left to do.
 */
export class NamespaceTerminating extends Error {
  override readonly name = "NamespaceTerminating";
}

const maxCachedBytes = 32 * 1024 * 1024;
const readsAtATime = 16;

export function createSecretStore(deps: SecretStoreDeps): SecretStore {
  const { api, own, foreign } = deps;
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

  return {
    async prepare(objects) {
      const { namespace } = objects.ref;
      const referenced = hasLogins(objects) ? referencedSecretNames(objects) : noNames;
      const hmacKey = deps.hmacKey();
      if (hmacKey === undefined) throw new Error("The key that seals Secrets is not known yet");
      const names = [...new Set([...secretNamesOf(objects), ...referenced])];
      const reads = await mapLimited(names, readsAtATime, async (name) => {
        return [name, await read(namespace, name, referenced.has(name))] as const;
      });
      const secrets: ReadonlyMap<string, Secret | undefined> = new Map(reads);
      return {
        find(name) {
          if (!secrets.has(name)) throw new Error(`Secret "${name}" was not read before it was asked for`);
          return secrets.get(name);
        },
        hmacKey,
        restoresAll: deps.adopt,
      };
    },
    async write(write) {
      const { target, text } = repairOf(write);
      if (repairs.waitMs(target, text) > 0) throw contestedError(write.name);
      try {
        own.applyOwnWrite(await send(write, deps));
        repairs.wrote(target, text);
      } catch (error) {
        throw toWriteError(error, write);
      }
    },
  };
}

const noNames: ReadonlySet<string> = new Set();

/**
 * Nobody logs in to a Project that goes or has gone, and what is served of it must not wait for
 * Secrets that can't be read.
 */
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

/**
 * A recreated Secret counts as a repetition for the same object, whatever is in it: something else
 * deletes it.
 */
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
