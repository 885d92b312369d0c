// Decides which installation a Project and its Secrets belong to, by the annotation that names their maker: another one that still exists
// keeps what it made, unless this one adopts. When two installations adopt, the one that takes a Project back keeps it. That a Secret
// names this installation proves nothing: see usable-secret.ts.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { Monotonic } from "../../core/timers.ts";
import { isForbidden, type KubeApi } from "../kube/api.ts";
import { namespaceType } from "../kube/resource-types.ts";
import { purgeFinalizersOf, setterOf } from "../model/finalizer.ts";
import {
  areRivals,
  type Installation,
  installationText,
  parseInstallation,
  type RingLocation,
} from "../model/installation.ts";
import type { Project } from "../model/objects.ts";
import { installationAnnotation } from "../model/secret-names.ts";

export interface SecretOwnershipDeps {
  readonly api: KubeApi;
  /** Where this installation has its key ring. */
  readonly keyRing: RingLocation;
  /** This installation; known once its Redis was open. */
  readonly installation: () => Installation | undefined;
  /** Takes over, once for each Project, what another installation made. */
  readonly adopt: boolean;
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
  /** The Project's own Secret was written: it is this installation's from now on. */
  wroteOwn(ref: ProjectRef): void;
  /** What this installation calls itself; undefined = not known yet. */
  name(): string | undefined;
}

export function createSecretOwnership(deps: SecretOwnershipDeps): SecretOwnership {
  const { api, adopt, monotonic } = deps;
  /** Projects of which this one takes over what another installation made, and those of which it has. */
  const taking = new Set<string>();
  const takenOver = new Set<string>();
  const rivals = createKnownRivals(monotonic);

  const name = (): string | undefined => {
    const ours = deps.installation();
    return ours && installationText(ours);
  };

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
  const isOurs = (secret: Secret): boolean => makerOf(secret) === (name() ?? "");
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
    name,
    isOurs,
    holderOf,
    holderNamed,
    holderOfProject,
    async rivalOf(project, secrets) {
      const key = keyOfProject(project.metadata);
      const holder = await holderOfProject(project, secrets);
      if (!adopt || takenOver.has(key)) return holder;
      rivals.seen(project.metadata.uid, undefined);
      if (holder === undefined) taking.delete(key);
      else taking.add(key);
      return undefined;
    },
    wroteOwn(ref) {
      const key = keyOfProject(ref);
      if (taking.delete(key)) takenOver.add(key);
    },
  };
}

/** The installations that set its finalizers. */
function settersOf(metadata: Project["metadata"]): readonly string[] {
  return purgeFinalizersOf({ metadata }).map((finalizer) => setterOf({ metadata }, finalizer) ?? "");
}

/** Empty = the Secret does not say. */
function makerOf({ metadata }: Secret): string {
  return metadata.annotations?.[installationAnnotation] ?? "";
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
