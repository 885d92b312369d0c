// Finds the Projects that manifests name and that are not there, or not accepted, with everything that waits for each: one problem each.

import { join } from "node:path";
import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import type { Manifest } from "../../core/manifests/validate-manifest.ts";
import type { Verdict } from "../../operator/model/verdict.ts";
import type { CheckedManifest } from "../manifests/check-manifests.ts";
import { missingProject, type Referrer, referrerOf, unacceptedProject } from "../manifests/missing-project.ts";
import type { SourceProblem } from "../manifests/source.ts";
import type { KnownObject } from "./dev-state.ts";
import type { PassResult } from "./pass-result.ts";
import { namesAnotherProject, projectSubjectOf } from "./project-names.ts";

export interface AbsentProjects {
  readonly problems: readonly SourceProblem[];
  /** `Kind/namespace/name` of each object that names one. */
  readonly referrers: ReadonlySet<string>;
}

export function absentProjects(result: PassResult): AbsentProjects {
  const { known, reading } = result;
  const waiting = referrersByProject(result);
  const projects = [...known.objects.values()].flatMap(({ manifest }) => {
    const { namespace, name } = manifest.metadata;
    return manifest.kind === "Project" ? [{ namespace, name }] : [];
  });
  const there = new Set(projects.map(keyOfProject));
  const refused = new Set(reading.checked.problems.map(({ subject }) => subject));
  const problems = [...waiting].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const isThere = there.has(key) || refused.has(`Project/${key}`);
    const [ref, referrers] = [projectOfKey(key), [first, ...others] as const];
    return [isThere ? unacceptedProject(ref, referrers) : missingProject(ref, referrers, projects)];
  });
  return { problems, referrers: new Set([...waiting.values()].flat().map(({ subject }) => subject)) };
}

/** By `<namespace>/<name>` of the Project. */
function referrersByProject(result: PassResult): ReadonlyMap<string, readonly Referrer[]> {
  const read = new Map(result.reading.checked.manifests.map((entry) => [entry.source.subject, entry]));
  const found = new Map<string, Referrer[]>();
  for (const verdict of result.verdicts) {
    const subject = `${verdict.kind}/${verdict.namespace}/${verdict.name}`;
    const object = result.known.objects.get(subject);
    if (object === undefined) continue;
    const manifest = waitingManifest(verdict, object, read.get(subject));
    if (manifest === undefined) continue;
    const source = read.get(subject)?.source;
    const start = { subject, file: join(result.folder, object.file), line: 1, column: 1 };
    const position = source === undefined ? start : referrerOf(source);
    const key = projectSubjectOf(manifest).slice("Project/".length);
    found.set(key, [...(found.get(key) ?? []), { ...position, isServed: verdict.accepted || verdict.live }]);
  }
  return found;
}

/** The version that names an absent Project: the present one, or one that is not applied because of that. */
function waitingManifest(
  verdict: Verdict,
  { manifest }: KnownObject,
  read: CheckedManifest | undefined,
): Manifest | undefined {
  if (read !== undefined && namesAnotherProject(read.manifest, manifest)) return read.manifest;
  return isWithoutProject(verdict) ? manifest : undefined;
}

export function isWithoutProject(verdict: Verdict): boolean {
  return !verdict.accepted && verdict.reason === "ProjectNotFound";
}
