// What people ask to be deleted of kept data, by annotations of Projects and of the key ring's Secret. What the Secret says is handed to the
// Projects that it names, and taken away once they have it on record, or have nothing that it means; a Project's own stays where it is.
// The Secret is looked at with each look at the key ring.

import { createHash } from "node:crypto";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import { annotationsOf, withAnnotations, wordsIn } from "../kube/annotations.ts";
import { isConflict, type KubeApi, type KubeObject } from "../kube/api.ts";
import { secretType } from "../kube/resource-types.ts";
import { type DataRecord, isDataKept } from "../model/data-record.ts";
import type { Project } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import {
  type DeletionRequest,
  deletionAnnotation,
  isMeant,
  readProjectRequests,
  readSecretRequests,
  requestSources,
} from "./deletion-requests.ts";

export interface DeletionInbox {
  /** The deletions that are requested of the project now; with `ignoresAnnotation` without those of its own annotation. */
  requestsOf(
    objects: Pick<ProjectObjects, "ref" | "project">,
    options: { readonly ignoresAnnotation: boolean },
  ): readonly DeletionRequest[];
  /**
   * A reconcile of the project has recorded what these requests mean, as it evaluated them at that moment, in Unix milliseconds: those whose time had
   * not come by then were not carried out.
   */
  markRecorded(requests: readonly DeletionRequest[], evaluatedAt: number): void;
  /** Reads the requests from the Secret, which was just fetched. */
  sync(secret: KubeObject): Promise<void>;
}

export interface DeletionInboxDeps {
  /** Bound to leadership. */
  readonly api: Pick<KubeApi, "replace">;
  readonly now: () => number;
  readonly records: () => ReadonlyMap<string, DataRecord>;
  /** False for a project that is never reconciled: its namespace is not known, or its Project is of another class. */
  readonly looksAt: (key: string) => boolean;
  /** Has the project reconciled. */
  readonly enqueue: (key: string) => void;
  /** Called once for requests of the Secret that can't be read, and for names under which nothing is kept. */
  readonly warn: (message: string, facts: Readonly<Record<string, string>>) => void;
  /** Called once for requests of a Project's annotation that can't be read. */
  readonly onFault: (project: Project, fault: string) => void;
}

const projectsRemembered = 4_096;

export function createDeletionInbox(deps: DeletionInboxDeps): DeletionInbox {
  const { api, now, records, looksAt, enqueue, warn, onFault } = deps;
  let byProject: ReadonlyMap<string, readonly DeletionRequest[]> = new Map();
  /** Texts of requests that were taken, until they are out of the annotation. */
  const taken = new Set<string>();
  let warned: string | undefined;
  /** This process leads from now on, and no earlier version keeps anything. */
  const leadsSince = now();
  /** By UID of the Project: hash of its annotation with faults that were reported. A fault that names the present time would be news with each status. */
  const reported = recentlyUsed<string>(projectsRemembered);

  const ownRequests = (project: Project): readonly DeletionRequest[] => {
    const annotation = annotationsOf(project)[deletionAnnotation];
    const { requests, faults } = readProjectRequests(annotation, project.metadata, now());
    if (faults.length > 0) {
      const { uid } = project.metadata;
      const hash = createHash("sha256")
        .update(annotation ?? "")
        .digest("base64");
      const isNews = reported.get(uid) !== hash;
      reported.set(uid, hash);
      if (isNews) for (const fault of faults) onFault(project, fault);
    }
    // It may be from Git, older than a rollback in which data lost their times. The Secret's, once they are taken up, never come again.
    return requests.map((each) => (each.until < leadsSince ? { ...each, excludesUndatedData: true } : each));
  };

  /** One that concerns a project which is never looked at stays: that may change. */
  const isDone = (request: DeletionRequest): boolean => {
    if (taken.has(request.text)) return true;
    if (request.until > now()) return false;
    // A Project that is there has its own entries guarded; its own reconcile knows whether it is.
    const entries = records().get(keyOfProject(request.project))?.entries ?? [];
    if (entries.some((entry) => isDataKept(entry, { hasProject: false }) && isMeant(entry, request))) return false;
    warn("No data are kept under a name in a deletion request", { name: request.text });
    return true;
  };

  const secretRequests = (annotation: string | undefined): readonly DeletionRequest[] => {
    const { requests, faults } = readSecretRequests(annotation, now());
    const isNews = annotation !== warned;
    warned = annotation;
    if (isNews) for (const fault of faults) warn("Deletion request for kept data is not valid", { fault });
    return requests;
  };

  /** What somebody else took out of the annotation may be put there again, and is evaluated again then. */
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
    requestsOf({ ref, project }, { ignoresAnnotation }) {
      const own = project === undefined || ignoresAnnotation ? [] : ownRequests(project);
      return [...own, ...(byProject.get(keyOfProject(ref)) ?? [])];
    },
    markRecorded(requests, evaluatedAt) {
      for (const { text, source, until } of requests)
        if (source === requestSources.installation && until <= evaluatedAt) taken.add(text);
    },
    async sync(secret) {
      const requests = secretRequests(annotationsOf(secret)[deletionAnnotation]);
      forgetTaken(requests);
      const done = new Set(requests.filter((each) => each.isEarly === true || isDone(each)).map(({ text }) => text));
      const open = requests.filter(({ text }) => !done.has(text));
      byProject = Map.groupBy(open, ({ project }) => keyOfProject(project));
      for (const [key, each] of byProject) if (looksAt(key) && each.some(({ until }) => until <= now())) enqueue(key);
      if (done.size > 0) await takeAway(secret, done);
    },
  };
}
