// What people ask to be deleted of retained data, by an annotation of the key ring's Secret. It is
// handed to the Projects that it names, and taken away once their inventory has it, or they have
// nothing that it means. The Secret is looked at with each look at the key ring.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import { isConflict, type KubeApi, type KubeObject } from "../kube/api.ts";
import { annotationsOf, secretType, withAnnotations, wordsIn } from "../kube/objects.ts";
import { type DataInventory, isRetained } from "../model/data-inventory.ts";
import { type DeletionRequest, deletionAnnotation, isMeant, readRequests } from "./deletion-requests.ts";

export interface DeletionInbox {
  /** The deletions that are requested of the project now. */
  requestsOf(project: ProjectRef): readonly DeletionRequest[];
  /**
   * A reconcile of the project has recorded what these requests mean, as it evaluated them at that
   * moment, in Unix milliseconds: those whose time had not come by then were not carried out.
   */
  markRecorded(requests: readonly DeletionRequest[], evaluatedAt: number): void;
  /** Reads the requests from the Secret, which was just fetched. */
  sync(secret: KubeObject): Promise<void>;
}

export interface DeletionInboxDeps {
  /** Bound to leadership. */
  readonly api: Pick<KubeApi, "replace">;
  readonly now: () => number;
  readonly inventories: () => ReadonlyMap<string, DataInventory>;
  /**
   * False for a project that is never reconciled: its namespace is not known, or another
   * installation looks after its Project.
   */
  readonly looksAt: (key: string) => boolean;
  /** Has the project reconciled. */
  readonly enqueue: (key: string) => void;
  /**
   * Called once for requests of the Secret that can't be read, and for names under which nothing is
   * retained.
   */
  readonly warn: (message: string, facts: Readonly<Record<string, string>>) => void;
}

export function createDeletionInbox(deps: DeletionInboxDeps): DeletionInbox {
  const { api, now, inventories, looksAt, enqueue, warn } = deps;
  let byProject: ReadonlyMap<string, readonly DeletionRequest[]> = new Map();
  /** Texts of requests that were taken, until they are out of the annotation. */
  const taken = new Set<string>();
  let warned: string | undefined;
  /** A request for a Project that is never reconciled here stays, because that may change. */
  const isDone = (request: DeletionRequest): boolean => {
    if (taken.has(request.text)) return true;
    if (request.until > now()) return false;
    // A Project that is there has its own entries guarded; its own reconcile knows whether it is.
    const entries = inventories().get(keyOfProject(request.project))?.entries ?? [];
    if (entries.some((entry) => isRetained(entry, { hasProject: false }) && isMeant(entry, request))) return false;
    warn("No data are kept under a name in a deletion request", { name: request.text });
    return true;
  };

  const requestsIn = (annotation: string | undefined): readonly DeletionRequest[] => {
    const { requests, faults } = readRequests(annotation, now());
    const isNews = annotation !== warned;
    warned = annotation;
    if (isNews) for (const fault of faults) warn("Deletion request for kept data is not valid", { fault });
    return requests;
  };

  /**
   * What somebody else took out of the annotation may be put there again, and is evaluated again
   * then.
   */
  const forgetTaken = (requests: readonly DeletionRequest[]): void => {
    const standing = new Set(requests.map(({ text }) => text));
    for (const text of taken) if (!standing.has(text)) taken.delete(text);
  };

  const takeAway = async (secret: KubeObject, done: ReadonlySet<string>): Promise<void> => {
    const words = wordsIn(annotationsOf(secret)[deletionAnnotation]);
    const left = words.filter((word) => !done.has(word)).join("\n") || undefined;
    try {
      await api.replace(secretType, withAnnotations(secret, { [deletionAnnotation]: left }));
      for (const text of done) taken.delete(text);
    } catch (error) {
      // The Secret was changed meanwhile: the next sync reads it again.
      if (!isConflict(error)) throw error;
    }
  };

  return {
    requestsOf: (project) => byProject.get(keyOfProject(project)) ?? [],
    markRecorded(requests, evaluatedAt) {
      for (const { text, until } of requests) if (until <= evaluatedAt) taken.add(text);
    },
    async sync(secret) {
      const requests = requestsIn(annotationsOf(secret)[deletionAnnotation]);
      forgetTaken(requests);
      const done = new Set(requests.filter((each) => each.isEarly === true || isDone(each)).map(({ text }) => text));
      const open = requests.filter(({ text }) => !done.has(text));
      byProject = Map.groupBy(open, ({ project }) => keyOfProject(project));
      for (const [key, each] of byProject) if (looksAt(key) && each.some(({ until }) => until <= now())) enqueue(key);
      if (done.size > 0) await takeAway(secret, done);
    },
  };
}
