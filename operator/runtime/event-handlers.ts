// Handlers of what changes in the cluster, and of what replicas acknowledge: they add the keys of
// the Projects concerned to the work queue, and keep what the reconcile has to know of an event.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { isKind } from "../../core/manifests/object.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { KubeObject } from "../kube/api.ts";
import type { CustomResource } from "../model/objects.ts";
import { isDeleting, projectRefOf } from "../model/project-objects.ts";
import { kindLabel, nameLabel } from "../model/secret-names.ts";
import type { Acknowledgements } from "../publish/acknowledgements.ts";
import type { Liveness } from "../publish/availability.ts";
import type { Lane } from "../queue/lanes.ts";
import type { UnacknowledgedRevision } from "../reconcile/reconcile-result.ts";
import { createSecretUsers } from "../secrets/secret-users.ts";
import type { CacheListener } from "../watch/caches.ts";
import { type HostRegistry, isProject } from "./host-registry.ts";
import { loses, type WhyRevoked } from "./revocations.ts";
import { createSeenDeletions } from "./seen-deletions.ts";

export interface EventHandlers extends CacheListener {
  /** Takes over an object that existed before the handlers were attached. */
  addExisting(object: CustomResource): void;
  /** Other rules of the platform hold. */
  guardRailsChanged(): void;
  /**
   * Objects of the key that the watch or a list reported as gone; they are the caller's until
   * `giveBack`.
   */
  takeDeleted(key: string): readonly CustomResource[];
  giveBack(key: string, objects: readonly CustomResource[]): void;
  /**
   * The key's newest revision was not acknowledged by all when its status was written; undefined =
   * it was. What replicas have done since comes only once, and is looked for immediately.
   */
  awaits(
    key: string,
    awaited: UnacknowledgedRevision | undefined,
    acknowledgements: Acknowledgements | undefined,
  ): void;
  acknowledged(acknowledgements: Acknowledgements): void;
  /**
   * Seconds since the change that is programmed now arrived, once; undefined when no change of the
   * object arrived since the last call.
   */
  takeProgrammedDelay(uid: string): number | undefined;
}

export interface EventHandlersDeps {
  readonly add: (key: string, lane?: Lane) => void;
  /** An object of the key was deleted, or has less access. */
  readonly revoking: (key: string, why: WhyRevoked) => void;
  readonly hosts: HostRegistry;
  /** Keys of all Projects that objects name. */
  readonly keys: () => Iterable<string>;
  readonly monotonic: Monotonic;
}

export function createEventHandlers({ add, revoking, hosts, keys, monotonic }: EventHandlersDeps): EventHandlers {
  const secretUsers = createSecretUsers();
  const deletions = createSeenDeletions();
  const awaited = new Map<string, UnacknowledgedRevision>();
  const changedAt = new Map<string, number>();
  let refused: ReadonlySet<string> = new Set();
  let building: ReadonlyMap<string, string> = new Map();
  let quotaStates: ReadonlyMap<string, string> = new Map();
  let lastLiveness: Liveness = "unknown";

  /**
   * Every Project's status reports whether replicas are live. Compared first, so that many replicas
   * that come and go enqueue once.
   */
  const enqueueAll = (liveness: Liveness): void => {
    if (liveness !== lastLiveness) for (const key of keys()) add(key, "bulk");
    lastLiveness = liveness;
  };

  const enqueueUsers = ({ metadata }: KubeObject, lane: Lane): void => {
    for (const key of secretUsers.projectsOf(metadata.namespace ?? "", metadata.name)) add(key, lane);
  };

  const put = (object: CustomResource, before?: CustomResource): readonly string[] => {
    secretUsers.put(object, before);
    return isProject(object) ? hosts.put(object) : [];
  };

  return {
    addExisting: (object) => put(object),
    objectChanged(object, before, listed) {
      const others = put(object, before);
      if (!listed && before?.metadata.generation !== object.metadata.generation) {
        changedAt.set(object.metadata.uid, monotonic());
      }
      const key = keyOfProject(projectRefOf(object));
      if (loses(object, before)) revoking(key, isDeleting(object) ? "deleted" : "lowered");
      add(key, listed ? "bulk" : "live");
      for (const other of others) add(other);
    },
    objectRemoved(object) {
      const key = keyOfProject(projectRefOf(object));
      secretUsers.remove(object);
      changedAt.delete(object.metadata.uid);
      deletions.add(key, object);
      // When it began, where it waited for its finalizer.
      if (!isDeleting(object)) revoking(key, "deleted");
      add(key);
      if (!isProject(object)) return;
      for (const other of hosts.remove(object)) add(other);
    },
    guardRailsChanged() {
      for (const key of keys()) add(key, "bulk");
    },
    secretChanged: (secret) => enqueueUsers(secret, laneOf(secret)),
    // Somebody else deleted it, such as that of a leaked key: the operator deletes only what no
    // object uses.
    secretRemoved: (secret) => enqueueUsers(secret, "live"),
    takeDeleted: deletions.take,
    giveBack: deletions.giveBack,
    awaits(key, next, acknowledgements) {
      if (next === undefined) awaited.delete(key);
      else awaited.set(key, next);
      if (next !== undefined && acknowledgements !== undefined && isOutdated(key, next, acknowledgements)) add(key);
    },
    acknowledged(acknowledgements) {
      for (const [key, each] of awaited) if (isOutdated(key, each, acknowledgements)) add(key);
      enqueueAll(acknowledgements.liveness());
      const now = acknowledgements.refusedProjects();
      for (const key of now.symmetricDifference(refused)) add(key);
      refused = now;
      const builds = buildsIn(acknowledgements);
      const states = acknowledgements.quotaStates();
      for (const key of [...changedKeys(building, builds), ...changedKeys(quotaStates, states)]) add(key, "bulk");
      building = builds;
      quotaStates = states;
    },
    takeProgrammedDelay(uid) {
      const since = changedAt.get(uid);
      changedAt.delete(uid);
      return since === undefined ? undefined : (monotonic() - since) / 1000;
    },
  };
}

/** Whether a status that was written so would say something else now. */
function isOutdated(
  key: string,
  { revision, state, isServed }: UnacknowledgedRevision,
  acknowledgements: Acknowledgements,
): boolean {
  if (acknowledgements.rolloutOf(revision) !== state) return true;
  return !isServed && acknowledgements.availabilityOf(projectOfKey(key), revision) === "served";
}

/** Keys that only one of the maps has, or whose values differ. */
function changedKeys<T>(one: ReadonlyMap<string, T>, other: ReadonlyMap<string, T>): readonly string[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => one.get(key) !== other.get(key));
}

/** By project, in a form that can be compared. */
function buildsIn(acknowledgements: Acknowledgements): ReadonlyMap<string, string> {
  const builds = [...acknowledgements.building()];
  return new Map(builds.map(([key, resources]) => [key, JSON.stringify([...resources].sort())]));
}

/** Most changes of own Secrets are own writes, of which a pass finds nothing to do. */
function laneOf({ metadata: { labels } }: KubeObject): Lane {
  return isKind(labels?.[kindLabel]) && labels?.[nameLabel] !== undefined ? "bulk" : "live";
}
