// Decides which object, which Project and which installation an own Secret belongs to, by the marks in its annotations:
//
//   its marks                           what happens
//   this object, this installation      used as it is
//   another installation that exists    left to it, unless this one adopts, or holds the Project's own Secret
//   any other mark, or none             read from the API server, since the cache may show Secrets of a deleted namespace:
//                                         this Project, or no Project    claimed: the marks are written
//                                         another Project                deleted
//
// When two installations adopt, the one that takes a Project back keeps it.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { Monotonic } from "../../core/timers.ts";
import {
  isConflict,
  isForbidden,
  isNotFound,
  isRefusedWrite,
  type KubeApi,
  type KubeObject,
  type ObjectName,
} from "../kube/api.ts";
import type { Repairs } from "../kube/repairs.ts";
import { namespaceType, secretType } from "../kube/resource-types.ts";
import { purgeFinalizersOf, setterOf } from "../model/finalizer.ts";
import {
  areRivals,
  type Installation,
  installationText,
  parseInstallation,
  type RingLocation,
} from "../model/installation.ts";
import type { CustomResource, Project } from "../model/objects.ts";
import { installationAnnotation, isOwn, ownerMarks, projectAnnotation } from "../model/secret-names.ts";
import type { Watched } from "../watch/watched.ts";
import { changedSecret, secretChanged, secretOf, unreadSecret } from "./secret-object.ts";

export interface SecretOwnershipDeps {
  readonly api: KubeApi;
  readonly own: Watched;
  /** Called with a Secret that the API server does not have any more. */
  readonly forgetSecret: (secret: ObjectName) => void;
  /** Where this installation has its key ring. */
  readonly keyRing: RingLocation;
  /** This installation; known once its Redis was open. */
  readonly installation: () => Installation | undefined;
  /** Takes over, once for each Project, what another installation made. */
  readonly adopt: boolean;
  readonly repairs: Repairs;
  readonly monotonic: Monotonic;
  /** Whether a namespace is among those that are watched; false where that isn't known. */
  readonly seesNamespace: (name: string) => boolean;
}

export interface SecretOwnership {
  /**
   * The other installation that manages a Project and may still exist; undefined = none, or this one. The first of these that is there
   * decides:
   * 1. the Project's own Secret;
   * 2. the Secrets of its children;
   * 3. the finalizers of a Project that is being deleted;
   * 4. the Secrets that were there less than ten minutes ago.
   */
  holderOfProject(project: Project | undefined, secrets: readonly Secret[]): Promise<Installation | undefined>;
  /** As `holderOfProject`; undefined also where this installation is about to take the Project over. */
  rivalOf(project: Project, secrets: readonly Secret[]): Promise<Installation | undefined>;
  /** Whether this installation made it. */
  isOurs(secret: Secret): boolean;
  /** The other installation that made a Secret and may still exist. */
  holderOf(secret: Secret): Promise<Installation | undefined>;
  /** The same as `holderOf`, by the text that names the installation. */
  holderNamed(name: string): Promise<Installation | undefined>;
  /** Whether it belongs to this owner and another installation made it, from which this one adopts. */
  isToBeAdopted(secret: KubeObject, owner: CustomResource): Promise<boolean>;
  /**
   * The Secret as `owner` may use it, for a Project that this installation manages. With `holdsProject` this installation has made the
   * Project's own Secret, and claims the Secrets that others have made for its children.
   */
  claimedSecret(secret: Secret | undefined, owner: CustomResource, holdsProject: boolean): Promise<Secret | undefined>;
  /** Writes the missing marks. Throws SecretChanged where another installation may have taken the Project meanwhile. */
  claim(secret: KubeObject, owner: CustomResource, holdsProject: boolean): Promise<void>;
  /** The annotation that names this installation. */
  signature(): Readonly<Record<string, string>>;
}

export function createSecretOwnership(deps: SecretOwnershipDeps): SecretOwnership {
  const { api, own, forgetSecret, adopt, repairs, monotonic } = deps;
  const takenOver = new Set<string>();
  const rivals = createKnownRivals(monotonic);

  const signature = (): Readonly<Record<string, string>> => {
    const ours = deps.installation();
    return ours === undefined ? {} : { [installationAnnotation]: installationText(ours) };
  };
  const marksOf = (owner: CustomResource) => ({ ...ownerMarks(owner), ...signature() });
  const isMarked = (secret: Secret, owner: CustomResource): boolean => isMarkedWith(secret, marksOf(owner));

  /** An installation's ring goes with its namespace. Where the namespace can't be read, the installation may still exist. */
  const exists = async ({ namespace }: Installation): Promise<boolean> => {
    if (deps.seesNamespace(namespace)) return true;
    try {
      return (await api.get(namespaceType, { namespace: "", name: namespace })) !== undefined;
    } catch (error) {
      if (isForbidden(error)) return true;
      throw error;
    }
  };
  const holderNamed = async (name: string): Promise<Installation | undefined> => {
    const maker = parseInstallation(name);
    if (maker === undefined || !areRivals(deps.keyRing, maker)) return undefined;
    return (await exists(maker)) ? maker : undefined;
  };
  const holderAmong = async (names: Iterable<string>): Promise<Installation | undefined> => {
    for (const name of names) {
      const holder = await holderNamed(name);
      if (holder !== undefined) return holder;
    }
    return undefined;
  };
  const holderOf = (secret: Secret): Promise<Installation | undefined> => holderNamed(makerOf(secret));
  /** Foreign Secrets count as claimed: they are used as they are. */
  const isClaimed = async (secret: Secret, owner: CustomResource, holdsProject: boolean): Promise<boolean> =>
    !isOwn(secret, owner) ||
    isMarked(secret, owner) ||
    (!adopt && !holdsProject && (await holderOf(secret)) !== undefined);
  const isOurs = ({ metadata }: Secret): boolean =>
    metadata.annotations?.[installationAnnotation] === (signature()[installationAnnotation] ?? "");
  /** The installations that may manage a Project without Secrets. A Project that is being deleted gets no new Secrets. */
  const withoutSecrets = ({ metadata }: Project): readonly string[] => {
    if (metadata.deletionTimestamp !== undefined) return settersOf(metadata);
    return [rivals.nameOf(metadata.uid) ?? ""];
  };
  const holderOfProject: SecretOwnership["holderOfProject"] = async (project, secrets) => {
    // Deleting the only Secret that says whose the Project is must not give it to whichever installation is faster.
    if (project !== undefined && secrets.length === 0) return await holderAmong(withoutSecrets(project));
    const holder = secrets.some(isOurs) ? undefined : await holderAmong(new Set(secrets.map(makerOf)));
    if (project !== undefined) rivals.seen(project.metadata.uid, holder);
    return holder;
  };

  return {
    signature,
    holderOf,
    holderNamed,
    holderOfProject,
    isOurs,
    async isToBeAdopted(secret, owner) {
      const found = unreadSecret(secret);
      return adopt && isMarkedWith(found, ownerMarks(owner)) && (await holderOf(found)) !== undefined;
    },
    async rivalOf(project, secrets) {
      const isTakenBack = adopt && !takenOver.has(keyOfProject(project.metadata));
      if (isTakenBack) return void rivals.seen(project.metadata.uid, undefined);
      return await holderOfProject(project, secrets);
    },
    async claimedSecret(secret, owner, holdsProject) {
      if (secret === undefined || (await isClaimed(secret, owner, holdsProject))) return secret;
      const secretName = { namespace: owner.metadata.namespace, name: secret.metadata.name };
      const live = await api.get(secretType, secretName);
      if (live === undefined) return void forgetSecret(secretName);
      if (own.get(secretName.namespace, secretName.name) !== undefined) own.applyOwnWrite(live);
      const found = secretOf(live);
      if (await isClaimed(found, owner, holdsProject)) return found;
      if (isOfProject(found, owner)) return marked(found, marksOf(owner));
      await removeLive(api, live);
      return void forgetSecret(secretName);
    },
    async claim(secret, owner, holdsProject) {
      // What it holds does not matter, and decoding it takes longer than all else.
      const found = unreadSecret(secret);
      if (await isClaimed(found, owner, holdsProject)) return;
      const target = `${secret.metadata.namespace}/${secret.metadata.name} claimed`;
      const text = JSON.stringify(marksOf(owner));
      // Something takes it away again: until its turn the Secret is asked for each time.
      if (repairs.waitMs(target, text) > 0) return;
      const claimed = changedSecret(secret, { labels: {}, annotations: marksOf(owner), entries: {} });
      const written = await unlessRefused(api.replace(secretType, claimed), { ...secret.metadata, kind: owner.kind });
      if (written === undefined) return;
      repairs.wrote(target, text);
      own.applyOwnWrite(written);
      const { namespace, name } = owner.metadata;
      const holder = owner.kind === "Project" ? await holderOf(found) : undefined;
      if (holder !== undefined) takenOver.add(keyOfProject({ namespace, name }));
    },
  };
}

function isMarkedWith({ metadata }: Secret, marks: Readonly<Record<string, string>>): boolean {
  return Object.entries(marks).every(([name, value]) => metadata.annotations?.[name] === value);
}

/** The installations that set its finalizers. */
function settersOf(metadata: Project["metadata"]): readonly string[] {
  return purgeFinalizersOf({ metadata }).map((finalizer) => setterOf({ metadata }, finalizer) ?? "");
}

/** Empty = the Secret does not say. */
function makerOf({ metadata }: Secret): string {
  return metadata.annotations?.[installationAnnotation] ?? "";
}

/** True also where the Secret names no Project. */
function isOfProject({ metadata }: Secret, owner: CustomResource): boolean {
  const project = metadata.annotations?.[projectAnnotation];
  return project === undefined || project === ownerMarks(owner)[projectAnnotation];
}

/** As it will be once it is claimed. */
function marked(secret: Secret, marks: Readonly<Record<string, string>>): Secret {
  const { metadata } = secret;
  return { ...secret, metadata: { ...metadata, annotations: { ...metadata.annotations, ...marks } } };
}

/** The object that it was made for was deleted: another one has its name now. */
async function removeLive(api: KubeApi, { metadata }: KubeObject): Promise<void> {
  const { namespace, name, uid, resourceVersion } = metadata;
  try {
    await api.remove(secretType, { namespace, name }, { uid, resourceVersion });
  } catch (error) {
    throw isConflict(error) ? secretChanged({ namespace, name }, error) : error;
  }
}

/** Without the mark the Secret is asked for each time, which costs a call and changes nothing. */
async function unlessRefused(
  writing: Promise<KubeObject>,
  { kind, ...name }: ObjectName & { readonly kind: CustomResource["kind"] },
): Promise<KubeObject | undefined> {
  try {
    return await writing;
  } catch (error) {
    // Two installations want the Project: one gets it with all that it has.
    if (kind === "Project" && isConflict(error)) throw secretChanged(name, error);
    if (isRefusedWrite(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/**
 * Which other installation manages a Project, by its UID: after all its Secrets were deleted nothing else says so. Entries are dropped
 * after some time, and the oldest beyond a number.
 */
interface KnownRivals {
  /** Called when Secrets of the Project were read; undefined = they name no rival. */
  seen(uid: string, rival: Installation | undefined): void;
  /** The text that names the rival; undefined = none is known, or not any more. */
  nameOf(uid: string): string | undefined;
}

/** Some hundred bytes each. The faster installation recreates the Secrets of a Project that was dropped here. */
const maxRivals = 10_000;
/** A rival that runs has recreated the Secrets by then. */
const forgottenMs = 600_000;

function createKnownRivals(monotonic: Monotonic): KnownRivals {
  const rivals = new Map<string, { readonly name: string; readonly seenAt: number }>();
  return {
    seen(uid, rival) {
      rivals.delete(uid);
      if (rival !== undefined) rivals.set(uid, { name: installationText(rival), seenAt: monotonic() });
      const [oldest] = rivals.keys();
      if (oldest !== undefined && rivals.size > maxRivals) rivals.delete(oldest);
    },
    nameOf(uid) {
      const known = rivals.get(uid);
      return known === undefined || monotonic() - known.seenAt >= forgottenMs ? undefined : known.name;
    },
  };
}
