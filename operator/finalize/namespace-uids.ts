// Says of which namespace a Project is, by UID: data belong to it, and never to a later one of its
// name. What is watched may be behind, so that it counts only where it agrees with what was
// published; else the API server is asked, once for many new Projects.

import type { ProjectRef } from "../../core/config/types.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Monotonic } from "../../core/timers.ts";
import type { KubeReader } from "../kube/api.ts";
import { namespaceType } from "../kube/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";

export interface NamespaceUids {
  /** Undefined when there is no such namespace. Throws the failure of the API server. */
  of(objects: ProjectObjects, published: PublishedProject): Promise<string | undefined>;
  /**
   * A Project is in the cache from now on, by UID: what the API server was asked before tells
   * nothing of its namespace.
   */
  seen(projectUid: string): void;
  removed(projectUid: string): void;
}

export interface NamespaceUidsDeps {
  readonly api: Pick<KubeReader, "get">;
  /** UID of the namespace in the watch cache; undefined = it is not there. */
  readonly watched: (namespace: string) => string | undefined;
  /** False where namespaces may not be listed, so that the watch cache has none. */
  readonly isWatching: () => boolean;
  readonly monotonic: Monotonic;
}

interface Answer {
  /** How many Projects had been seen when it was asked for. */
  readonly seenBefore: number;
  readonly askedAt: number;
  readonly uid: Promise<string | undefined>;
}

/** Thousands of Projects that are new at once ask once in this time for each namespace. */
const sharedForMs = 5_000;
const maxAnswers = 1_024;

export function createNamespaceUids({ api, watched, isWatching, monotonic }: NamespaceUidsDeps): NamespaceUids {
  /**
   * UID of a Project → of its namespace, where the watch says another. A Project never leaves its
   * namespace.
   */
  const proven = new Map<string, string>();
  /** UID of a Project → how many were seen before it. */
  const arrivals = new Map<string, number>();
  const answers = recentlyUsed<Answer>(maxAnswers);
  let arrived = 0;

  const ask = async ({ namespace }: ProjectRef): Promise<string | undefined> =>
    (await api.get(namespaceType, { namespace: "", name: namespace }))?.metadata.uid;

  /**
   * The answer of another Project, if it was asked for while this one was here already: a Project
   * never outlives its namespace.
   */
  const sharedAnswer = async (ref: ProjectRef, projectUid: string): Promise<string | undefined> => {
    const former = answers.get(ref.namespace);
    const arrival = arrivals.get(projectUid) ?? Number.POSITIVE_INFINITY;
    if (former !== undefined && arrival < former.seenBefore && monotonic() - former.askedAt < sharedForMs)
      return await former.uid;
    const answer: Answer = { seenBefore: arrived, askedAt: monotonic(), uid: ask(ref) };
    answers.set(ref.namespace, answer);
    try {
      return await answer.uid;
    } catch (error) {
      if (answers.get(ref.namespace) === answer) answers.delete(ref.namespace);
      throw error;
    }
  };

  /**
   * A namespace that the watch lacks may have been deleted a moment ago: then no earlier answer
   * counts.
   */
  const askUnseen = (ref: ProjectRef, projectUid: string): Promise<string | undefined> =>
    isWatching() ? ask(ref) : sharedAnswer(ref, projectUid);

  const uidFor = async (
    ref: ProjectRef,
    projectUid: string,
    published: PublishedProject,
  ): Promise<string | undefined> => {
    const seen = watched(ref.namespace);
    if (seen === undefined) return await askUnseen(ref, projectUid);
    const known = proven.get(projectUid);
    if (known !== undefined && known !== seen) return known;
    proven.delete(projectUid);
    if (agrees(seen, projectUid, published)) return seen;
    const live = await sharedAnswer(ref, projectUid);
    if (live !== undefined && live !== seen) proven.set(projectUid, live);
    return live;
  };

  return {
    seen(projectUid) {
      if (arrivals.has(projectUid)) return;
      arrivals.set(projectUid, arrived);
      arrived += 1;
    },
    removed(projectUid) {
      arrivals.delete(projectUid);
      proven.delete(projectUid);
    },
    async of({ ref, project }, published) {
      if (project === undefined) return watched(ref.namespace) ?? (await ask(ref));
      return await uidFor(ref, project.metadata.uid, published);
    },
  };
}

/**
 * The Project was published of this very namespace: it is not a new one in a later namespace, nor
 * was it taken for one.
 */
function agrees(namespaceUid: string, projectUid: string, { parts, data }: PublishedProject): boolean {
  if ((parts?.project.uid ?? data?.projectUid) !== projectUid) return false;
  return (data?.entries ?? []).every(
    (entry) => entry.namespaceUid === namespaceUid || entry.purgeFromRevision !== undefined,
  );
}
