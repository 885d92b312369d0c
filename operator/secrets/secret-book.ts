// Reads and writes Secrets for the resolve stage: its own from the watched cache, foreign ones by GET, once per version.
// A write is refused with SecretChanged when the Secret is no longer the one that the write was decided from, and with
// NamespaceTerminating when the namespace is on its way out.

import type { Secret } from "../../core/manifests/object.ts";
import { isConflict, isNamespaceTerminating, isNotFound, type KubeApi, type KubeObject } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import type { ProjectObjects } from "../project-objects.ts";
import type { FindSecret } from "../resolve/resolution.ts";
import type { SecretWrite } from "../resolve/secret-write.ts";
import { kindLabel } from "../secret-names.ts";
import type { Watched } from "../watch/watched.ts";
import { createRememberedSecrets } from "./remembered-secrets.ts";
import { changedSecret, newSecret, secretOf, unreadSecret } from "./secret-object.ts";
import { givenSecretNames, secretNamesOf } from "./secret-users.ts";

export interface SecretBook {
  /** Reads whatever Secret may matter to a Project; what it answers with knows those names and throws at others. */
  prepare(objects: ProjectObjects): Promise<FindSecret>;
  /** Throws SecretChanged, NamespaceTerminating, or what the API server said. */
  write(write: SecretWrite): Promise<void>;
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

  return {
    async prepare(objects) {
      const { namespace } = objects.ref;
      const given = givenSecretNames(objects);
      const names = [...new Set([...secretNamesOf(objects), ...given])];
      const found = new Map<string, Secret | undefined>();
      for (let at = 0; at < names.length; at += readsAtATime) {
        const some = names.slice(at, at + readsAtATime);
        const secrets = await Promise.all(some.map((name) => read(namespace, name, given.has(name))));
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
  };
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

function changed({ namespace, name }: SecretWrite, cause?: unknown): SecretChanged {
  return new SecretChanged(`Secret "${namespace}/${name}" has changed since it was read`, { cause });
}
