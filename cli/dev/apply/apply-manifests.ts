// Does for a folder of manifests what an API server does: decides which version of each object is
// valid. A refused edit leaves the version before it. A file with a document that can't be read
// leaves all of its objects. An object whose manifest is gone waits for its deletion. An object
// that names another Project than before is deleted and created again, once that Project exists.

import { isDeepStrictEqual } from "node:util";
import type { UncheckedObject } from "../../../core/manifests/object.ts";
import { type Manifest, validateManifest } from "../../../core/manifests/validate-manifest.ts";
import type { Child, DeletionPolicy, Project } from "../../../operator/model/objects.ts";
import { effectiveDeletionPolicy } from "../../../operator/model/project-objects.ts";
import { type CheckedManifest, type CheckedManifests, hidesObjects } from "../../manifests/check-manifests.ts";
import {
  type DevState,
  type KnownObject,
  namesAnotherProject,
  type PendingDeletion,
  projectSubjectOf,
  storedObject,
} from "../data-folder/dev-state.ts";

export interface ApplyTools {
  /** Unix milliseconds. */
  readonly now: number;
  readonly newUid: () => string;
  /** A file's path from the folder of manifests, however that folder was named. */
  readonly fileKey: (file: string) => string;
}

export function applyManifests(checked: CheckedManifests, known: DevState, tools: ApplyTools): DevState {
  const isKept = keptBy(checked, tools.fileKey);
  const { objects, restored } = readObjects(checked, known, {
    ...tools,
    isThere: projectsThere(checked, known, isKept),
  });
  const removed: PendingDeletion[] = [];
  for (const [subject, object] of known.objects) {
    const present = objects.get(subject);
    if (present?.uid === object.uid) continue;
    if (present === undefined && isKept(subject, object.file)) objects.set(subject, object);
    else removed.push({ subject, object, removedAt: tools.now, deletionPolicy: policyOf(object, known) });
  }
  return {
    objects,
    pendingDeletions: [...known.pendingDeletions.filter((pending) => !restored.has(pending)), ...removed],
  };
}

interface ReadTools extends ApplyTools {
  readonly isThere: (projectSubject: string) => boolean;
}

/** The objects whose manifests were read, and the deletions that this ends. */
function readObjects(
  { manifests }: CheckedManifests,
  known: DevState,
  { isThere, ...tools }: ReadTools,
): { readonly objects: Map<string, KnownObject>; readonly restored: ReadonlySet<PendingDeletion> } {
  const objects = new Map<string, KnownObject>();
  const restored = new Set<PendingDeletion>();
  for (const entry of manifests) {
    const { subject, file } = entry.source;
    const former = known.objects.get(subject);
    const isMoved = former !== undefined && namesAnotherProject(entry.manifest, former.manifest);
    if (isMoved && !isThere(projectSubjectOf(entry.manifest))) {
      objects.set(subject, { ...former, file: tools.fileKey(file) });
      continue;
    }
    const pending = known.pendingDeletions.find(
      (deletion) => deletion.subject === subject && isSameObject(entry.manifest, deletion.object),
    );
    if (pending !== undefined) restored.add(pending);
    // An object that was moved away and comes back is a new one: its Secrets are gone by now.
    objects.set(subject, appliedObject(entry, isMoved ? undefined : (former ?? pending?.object), tools));
  }
  return { objects, restored };
}

function appliedObject(
  { manifest, source }: CheckedManifest,
  before: KnownObject | undefined,
  tools: ApplyTools,
): KnownObject {
  const file = tools.fileKey(source.file);
  if (before === undefined) {
    const creationTimestamp = new Date(tools.now).toISOString();
    return { uid: tools.newUid(), creationTimestamp, generation: 1, file, manifest, live: null };
  }
  // The very same object where nothing has changed: compiled schemas are remembered by it.
  if (isDeepStrictEqual(manifest, before.manifest)) return { ...before, file };
  const changed = !isDeepStrictEqual(manifest.spec, before.manifest.spec);
  const { live, ...rest } = before;
  const former = live === undefined ? before.manifest : live;
  return { ...rest, file, manifest, live: former, generation: before.generation + (changed ? 1 : 0) };
}

/** Which Projects there will be once the manifests are applied, by `Project/namespace/name`. */
function projectsThere(
  { manifests }: CheckedManifests,
  known: DevState,
  isKept: (subject: string, file: string) => boolean,
): (subject: string) => boolean {
  const read = new Set(manifests.map(({ source }) => source.subject));
  return (subject) => {
    const former = known.objects.get(subject);
    return read.has(subject) || (former !== undefined && isKept(subject, former.file));
  };
}

/** A manifest that comes back with a different immutable field is another object. */
function isSameObject(manifest: Manifest, { manifest: before }: KnownObject): boolean {
  return validateManifest(manifest as unknown as UncheckedObject, before).ok;
}

/** Which objects stay although no valid manifest of them was read. */
export function keptBy(
  { problems }: CheckedManifests,
  fileKey: (file: string) => string,
): (subject: string, file: string) => boolean {
  const subjects = new Set<string>();
  const files = new Set<string>();
  for (const problem of problems) {
    if (hidesObjects(problem)) files.add(fileKey(problem.file));
    if (problem.subject !== undefined) subjects.add(problem.subject);
  }
  return (subject, file) => subjects.has(subject) || files.has(file);
}

/** A Project that is removed a moment before its children still decides about their data. */
function policyOf(object: KnownObject, known: DevState): DeletionPolicy {
  const stored = storedObject(object, object.manifest);
  if (stored.kind === "Project") return effectiveDeletionPolicy(stored);
  const parentSubject = projectSubjectOf(object.manifest);
  const deleted = known.pendingDeletions.findLast(({ subject }) => subject === parentSubject);
  const project = known.objects.get(parentSubject) ?? deleted?.object;
  const parent = project === undefined ? undefined : (storedObject(project, project.manifest) as Project);
  return effectiveDeletionPolicy(parent, stored as Child);
}
