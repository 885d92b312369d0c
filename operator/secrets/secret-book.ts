// Reads and writes Secrets for the resolve stage: its own from the watched cache, foreign ones by GET, once per version. An own one
// that doesn't say that it is this very object's is asked for: the cache may still show those of a namespace that is gone.
// A write is refused with SecretChanged when the Secret is no longer the one that the write was decided from, and with
// NamespaceTerminating when the namespace is on its way out.

import type { Secret } from "../../core/manifests/object.ts";
import {
  ApiFailure,
  isConflict,
  isNamespaceTerminating,
  isNotFound,
  type KubeApi,
  type KubeObject,
  type ObjectName,
} from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import type { CustomResource } from "../objects.ts";
import type { ProjectObjects } from "../project-objects.ts";
import type { FindSecret } from "../resolve/resolution.ts";
import type { SecretWrite } from "../resolve/secret-write.ts";
import { isOwn, kindLabel, ownerMarks, ownSecretNames, projectAnnotation } from "../secret-names.ts";
import type { Watched } from "../watch/watched.ts";
import { createRememberedSecrets } from "./remembered-secrets.ts";
import { changedSecret, newSecret, secretOf, unreadSecret } from "./secret-object.ts";
import { givenSecretNames, secretNamesOf } from "./secret-users.ts";

export interface SecretBook {
  /** Reads whatever Secret may matter to a Project; what it answers with knows those names and throws at others. */
  prepare(objects: ProjectObjects): Promise<FindSecret>;
  /** Throws SecretChanged, NamespaceTerminating, or what the API server said. */
  write(write: SecretWrite): Promise<void>;
  /**
   * Says on own Secrets whose they are, where they don't say so: they come from a backup, or from an earlier version. What the
   * API server refuses stays as it is. Throws where it doesn't answer.
   */
  claim(objects: ProjectObjects): Promise<void>;
}

export interface SecretBookDeps {
  readonly api: KubeApi;
  /** Secrets with the label app.kubernetes.io/managed-by=jsonplane. */
  readonly own: Watched;
  /** Metadata of all other Secrets. */
  readonly foreign: Watched;
}

/** The Secret was made, changed or deleted since it was read: look again, and decide anew. */
export class SecretChanged extends Error {
  override readonly name = "SecretChanged";
}

/** Nothing can be made in the namespace any more. Its objects go, and then nothing is left to do. */
export class NamespaceTerminating extends Error {
  override readonly name = "NamespaceTerminating";
}

const mostRememberedBytes = 32 * 1024 * 1024;
const readsAtATime = 16;

export function createSecretBook({ api, own, foreign }: SecretBookDeps): SecretBook {
  const remembered = createRememberedSecrets(mostRememberedBytes);

  const readForeign = async (metadata: KubeObject): Promise<Secret | undefined> => {
    const { namespace, name, resourceVersion } = metadata.metadata;
    const place = `${namespace}/${name}`;
    const known = remembered.get(place, resourceVersion);
    if (known !== undefined) return known;
    const object = await api.get(secretType, { namespace, name });
    if (object === undefined) {
      remembered.forget(place);
      return undefined;
    }
    const secret = secretOf(object);
    remembered.put(place, secret);
    return secret;
  };

  /** Of a foreign Secret on a name of ours nothing matters but that it is there. */
  const read = async (namespace: string, name: string, given: boolean): Promise<Secret | undefined> => {
    const ours = own.get(namespace, name);
    if (ours !== undefined) return secretOf(ours);
    const metadata = foreign.get(namespace, name);
    if (metadata === undefined) return undefined;
    return given || isLabelled(metadata) ? await readForeign(metadata) : unreadSecret(metadata);
  };

  const gone = (object: KubeObject): undefined => {
    const { namespace, name } = object.metadata;
    remembered.forget(`${namespace}/${name}`);
    for (const watched of [own, foreign]) watched.noteRemoved(object);
  };

  /** Of an object that this one is not: the caches may be those of an earlier namespace, and the Secret of another Project. */
  const settled = async (secret: Secret | undefined, owner: CustomResource): Promise<Secret | undefined> => {
    if (secret === undefined || !isOwn(secret, owner) || isMarkedFor(secret, owner)) return secret;
    const { namespace } = owner.metadata;
    const { name } = secret.metadata;
    const live = await api.get(secretType, { namespace, name });
    if (live === undefined) return gone((own.get(namespace, name) ?? foreign.get(namespace, name)) as KubeObject);
    if (own.get(namespace, name) !== undefined) own.note(live);
    const found = secretOf(live);
    const project = found.metadata.annotations?.[projectAnnotation];
    if (!isOwn(found, owner) || project === undefined || project === ownerMarks(owner)[projectAnnotation]) return found;
    await removeLive(api, live);
    return gone(live);
  };

  return {
    async prepare(objects) {
      const { namespace } = objects.ref;
      const given = givenSecretNames(objects);
      const owners = ownersIn(objects);
      const names = [...new Set([...secretNamesOf(objects), ...given])];
      const found = new Map<string, Secret | undefined>();
      for (let at = 0; at < names.length; at += readsAtATime) {
        const some = names.slice(at, at + readsAtATime);
        const secrets = await Promise.all(
          some.map(async (name) => {
            let secret = await read(namespace, name, given.has(name));
            for (const owner of owners.get(name) ?? []) secret = await settled(secret, owner);
            return secret;
          }),
        );
        for (const [index, name] of some.entries()) found.set(name, secrets[index]);
      }
      return (name) => {
        if (!found.has(name)) throw new Error(`Secret "${name}" was not read before it was asked for`);
        return found.get(name);
      };
    },
    async write(write) {
      try {
        own.note(write.mode === "create" ? await api.create(secretType, newSecret(write)) : await replace(api, write));
      } catch (error) {
        throw translated(error, write);
      }
    },
    async claim(objects) {
      for (const [name, owners] of ownersIn(objects)) {
        const secret = own.get(objects.ref.namespace, name);
        if (secret === undefined) continue;
        const owner = owners.find((each) => isOwn(secretOf(secret), each));
        if (owner === undefined || isMarkedFor(secretOf(secret), owner)) continue;
        const marked = changedSecret(secret, { labels: {}, annotations: ownerMarks(owner), entries: {} });
        const written = await unlessRefused(api.replace(secretType, marked));
        if (written !== undefined) own.note(written);
      }
    },
  };
}

/** Own Secrets of a Project that is looked after, by name, with the objects that they would be of. */
function ownersIn({ project, users, keys }: ProjectObjects): ReadonlyMap<string, readonly CustomResource[]> {
  const owners = new Map<string, CustomResource[]>();
  if (project === undefined || project.spec.suspend || project.metadata.deletionTimestamp !== undefined) return owners;
  for (const owner of [project, ...users, ...keys]) {
    for (const name of ownSecretNames(owner)) owners.set(name, [...(owners.get(name) ?? []), owner]);
  }
  return owners;
}

function isMarkedFor({ metadata }: Secret, owner: CustomResource): boolean {
  return Object.entries(ownerMarks(owner)).every(([name, value]) => metadata.annotations?.[name] === value);
}

/** Its object is gone, as the one of its name says that there is now. */
async function removeLive(api: KubeApi, { metadata }: KubeObject): Promise<void> {
  const { namespace, name, uid, resourceVersion } = metadata;
  try {
    await api.remove(secretType, { namespace, name }, { uid, resourceVersion });
  } catch (error) {
    throw isConflict(error) ? changed({ namespace, name }, error) : error;
  }
}

/** Without the mark the Secret is asked for each time, which costs a call and changes nothing. */
async function unlessRefused(writing: Promise<KubeObject>): Promise<KubeObject | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (error instanceof ApiFailure && [400, 403, 404, 409, 413, 422].includes(error.status)) return undefined;
    throw error;
  }
}

async function replace(api: KubeApi, write: SecretWrite): Promise<KubeObject> {
  const { namespace, name, resourceVersion } = write;
  const live = await api.get(secretType, { namespace, name });
  if (live === undefined || live.metadata.resourceVersion !== resourceVersion) throw changed(write);
  return await api.replace(secretType, changedSecret(live, write));
}

function isLabelled({ metadata }: KubeObject): boolean {
  return metadata.labels?.[kindLabel] !== undefined;
}

function translated(error: unknown, write: SecretWrite): unknown {
  if (isConflict(error) || isNotFound(error)) return changed(write, error);
  if (!isNamespaceTerminating(error)) return error;
  return new NamespaceTerminating(`Namespace "${write.namespace}" is being deleted`, { cause: error });
}

function changed({ namespace, name }: ObjectName, cause?: unknown): SecretChanged {
  return new SecretChanged(`Secret "${namespace}/${name}" has changed since it was read`, { cause });
}
