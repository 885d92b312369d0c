// Whose an own Secret is, beyond its name: of which object, of which Project, and made by which installation. One that doesn't say that
// it is this very object's is asked for, because the cache may still show those of a namespace that is gone. What another
// installation made is left to it, unless it is gone, or this one adopts; of two that adopt, the one that takes a Project back keeps it.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { Monotonic } from "../../core/timers.ts";
import { ApiFailure, isConflict, isForbidden, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
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
import { changed, changedSecret, secretOf } from "./secret-object.ts";

export interface SecretClaimsDeps {
  readonly api: KubeApi;
  readonly own: Watched;
  /** Called with a Secret that the server has no longer. */
  readonly gone: (secret: ObjectName) => void;
  /** Where this one has its key ring. */
  readonly ring: RingLocation;
  /** This one; known once its Redis was open. */
  readonly installation: () => Installation | undefined;
  /** Takes over, once for each Project, what another installation made. */
  readonly adopt: boolean;
  readonly repairs: Repairs;
  readonly monotonic: Monotonic;
  /** Whether a namespace is among those that are watched; false where that isn't known. */
  readonly seesNamespace: (name: string) => boolean;
}

export interface SecretClaims {
  /**
   * The other installation that looks after a Project and may still exist, according to the Project's own Secret; where that was deleted,
   * according to those of its children; where all were deleted, according to the finalizer of a Project that is being deleted, and else to
   * the Secrets that were there less than ten minutes ago. Undefined = none, or this one.
   */
  holderOfProject(project: Project | undefined, secrets: readonly Secret[]): Promise<Installation | undefined>;
  /** The same; undefined also where this one is about to take the Project over. */
  rivalOf(project: Project, secrets: readonly Secret[]): Promise<Installation | undefined>;
  /** Whether this one made it. */
  isOurs(secret: Secret): boolean;
  /** The other installation that made a Secret and may still be there. */
  holderOf(secret: Secret): Promise<Installation | undefined>;
  /** The same as `holderOf`, by what that one names itself. */
  holderNamed(name: string): Promise<Installation | undefined>;
  /** Whether it is this very owner's, and was made by another installation, from which this one takes what it finds. */
  isToBeAdopted(secret: KubeObject, owner: CustomResource): Promise<boolean>;
  /**
   * The Secret as it holds for `owner`, of a Project that this one looks after. With `holdsProject` this one has made the Project's own
   * Secret, and takes what others have made of its children.
   */
  settled(secret: Secret | undefined, owner: CustomResource, holdsProject: boolean): Promise<Secret | undefined>;
  /** Writes on it whose it is, where it doesn't say so. Throws SecretChanged where somebody else may have taken the Project meanwhile. */
  claim(secret: KubeObject, owner: CustomResource, holdsProject: boolean): Promise<void>;
  /** The annotation that names this installation. */
  signature(): Readonly<Record<string, string>>;
}

export function createSecretClaims(deps: SecretClaimsDeps): SecretClaims {
  const { api, own, gone, adopt, repairs, monotonic } = deps;
  const takenOver = new Set<string>();
  const rivals = createKnownRivals(monotonic);

  const signature = (): Readonly<Record<string, string>> => {
    const ours = deps.installation();
    return ours === undefined ? {} : { [installationAnnotation]: installationText(ours) };
  };
  const marksOf = (owner: CustomResource) => ({ ...ownerMarks(owner), ...signature() });
  const isMarked = (secret: Secret, owner: CustomResource): boolean => isMarkedWith(secret, marksOf(owner));

  /** Its ring went with its namespace: nobody can write as that installation any more. Where that can't be asked, it may be there. */
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
    if (maker === undefined || !areRivals(deps.ring, maker)) return undefined;
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
  /** Also where it isn't ours at all: nothing is asked of it. */
  const isSettled = async (secret: Secret, owner: CustomResource, holdsProject: boolean): Promise<boolean> =>
    !isOwn(secret, owner) ||
    isMarked(secret, owner) ||
    (!adopt && !holdsProject && (await holderOf(secret)) !== undefined);
  const isOurs = ({ metadata }: Secret): boolean =>
    metadata.annotations?.[installationAnnotation] === (signature()[installationAnnotation] ?? "");
  /** Who may look after a Project without Secrets. One that is being deleted gets no new ones. */
  const withoutSecrets = ({ metadata }: Project): readonly string[] => {
    if (metadata.deletionTimestamp !== undefined) return settersOf(metadata);
    return [rivals.nameOf(metadata.uid) ?? ""];
  };
  const holderOfProject: SecretClaims["holderOfProject"] = async (project, secrets) => {
    // Deleting the only Secret that says whose the Project is must not give it to whichever installation is faster.
    if (project !== undefined && secrets.length === 0) return await holderAmong(withoutSecrets(project));
    const holder = secrets.some(isOurs) ? undefined : await holderAmong(new Set(secrets.map(makerOf)));
    if (project !== undefined) rivals.learnt(project.metadata.uid, holder);
    return holder;
  };

  return {
    signature,
    holderOf,
    holderNamed,
    holderOfProject,
    isOurs,
    async isToBeAdopted(secret, owner) {
      const found = secretOf(secret);
      return adopt && isMarkedWith(found, ownerMarks(owner)) && (await holderOf(found)) !== undefined;
    },
    async rivalOf(project, secrets) {
      const isTakenBack = adopt && !takenOver.has(keyOfProject(project.metadata));
      if (isTakenBack) return void rivals.learnt(project.metadata.uid, undefined);
      return await holderOfProject(project, secrets);
    },
    async settled(secret, owner, holdsProject) {
      if (secret === undefined || (await isSettled(secret, owner, holdsProject))) return secret;
      const secretName = { namespace: owner.metadata.namespace, name: secret.metadata.name };
      const live = await api.get(secretType, secretName);
      if (live === undefined) return void gone(secretName);
      if (own.get(secretName.namespace, secretName.name) !== undefined) own.note(live);
      const found = secretOf(live);
      if (await isSettled(found, owner, holdsProject)) return found;
      if (isOfProject(found, owner)) return marked(found, marksOf(owner));
      await removeLive(api, live);
      return void gone(secretName);
    },
    async claim(secret, owner, holdsProject) {
      const found = secretOf(secret);
      if (await isSettled(found, owner, holdsProject)) return;
      const target = `${secret.metadata.namespace}/${secret.metadata.name} claimed`;
      const text = JSON.stringify(marksOf(owner));
      // Something takes it away again: until its turn the Secret is asked for each time.
      if (repairs.waitMs(target, text) > 0) return;
      const claimed = changedSecret(secret, { labels: {}, annotations: marksOf(owner), entries: {} });
      const written = await unlessRefused(api.replace(secretType, claimed), { ...secret.metadata, kind: owner.kind });
      if (written === undefined) return;
      repairs.wrote(target, text);
      own.note(written);
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

/** Empty = nobody says. */
function makerOf({ metadata }: Secret): string {
  return metadata.annotations?.[installationAnnotation] ?? "";
}

/** Or doesn't say. */
function isOfProject({ metadata }: Secret, owner: CustomResource): boolean {
  const project = metadata.annotations?.[projectAnnotation];
  return project === undefined || project === ownerMarks(owner)[projectAnnotation];
}

/** As it will be once it is claimed. */
function marked(secret: Secret, marks: Readonly<Record<string, string>>): Secret {
  const { metadata } = secret;
  return { ...secret, metadata: { ...metadata, annotations: { ...metadata.annotations, ...marks } } };
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
async function unlessRefused(
  writing: Promise<KubeObject>,
  { kind, ...name }: ObjectName & { readonly kind: CustomResource["kind"] },
): Promise<KubeObject | undefined> {
  try {
    return await writing;
  } catch (error) {
    // Of two that want a Project one gets it, and with it what is in it.
    if (kind === "Project" && isConflict(error)) throw changed(name, error);
    if (error instanceof ApiFailure && [400, 403, 404, 409, 413, 422].includes(error.status)) return undefined;
    throw error;
  }
}

/**
 * Which other installation looks after a Project, by its UID: while somebody has deleted all its Secrets nothing else says so. Forgotten after some
 * time, and beyond a number, in the order in which the Secrets were last seen.
 */
interface KnownRivals {
  /** Seen by Secrets of the Project just now; undefined = there is none. */
  learnt(uid: string, rival: Installation | undefined): void;
  /** What it names itself; undefined = none is known, or none any more. */
  nameOf(uid: string): string | undefined;
}

/** Some hundred bytes each. Of one that is forgotten the faster installation makes the Secret anew. */
const maxRivals = 10_000;
/** A rival that runs has made the Secrets anew by then. */
const forgottenMs = 600_000;

function createKnownRivals(monotonic: Monotonic): KnownRivals {
  const rivals = new Map<string, { readonly name: string; readonly seenAt: number }>();
  return {
    learnt(uid, rival) {
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
