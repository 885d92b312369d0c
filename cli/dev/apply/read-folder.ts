// Reads the folder of manifests and compares it with what is known: accepted versions, and the
// Secrets of files that can't be read now. Fails while the folder itself can't be read.

import type { Secret } from "../../../core/manifests/object.ts";
import type { Manifest } from "../../../core/manifests/validate-manifest.ts";
import type { Verdict } from "../../../operator/model/verdict.ts";
import { type CheckedManifests, checkManifests } from "../../manifests/check-manifests.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import type { SourceNote } from "../../manifests/source.ts";
import { type DevState, namesAnotherProject } from "../data-folder/dev-state.ts";
import { keptBy } from "./apply-manifests.ts";

export interface FolderSecret {
  readonly secret: Secret;
  /** A path that can be opened. */
  readonly file: string;
}

export interface FolderReading {
  readonly checked: CheckedManifests;
  /** Secrets that stand in the folder, by `<namespace>/<name>`. */
  readonly secrets: ReadonlyMap<string, FolderSecret>;
  readonly notes: readonly SourceNote[];
}

export async function readFolder(
  folder: string,
  known: DevState,
  before: ReadonlyMap<string, FolderSecret>,
): Promise<FolderReading> {
  const accepted = new Map<string, Manifest>();
  for (const [subject, { manifest }] of known.objects) accepted.set(subject, manifest);
  const read = await readManifests(folder);
  // An object that names another Project than before is another object: the two are not compared.
  for (const { subject, object } of read.objects) {
    const before = accepted.get(subject);
    if (before !== undefined && namesAnotherProject(object, before)) accepted.delete(subject);
  }
  const checked = checkManifests(read, accepted);
  return { checked, secrets: standingSecrets(checked, before), notes: read.notes };
}

function standingSecrets(
  checked: CheckedManifests,
  before: ReadonlyMap<string, FolderSecret>,
): ReadonlyMap<string, FolderSecret> {
  const isKept = keptBy(checked, (file) => file);
  const kept = [...before].filter(([key, { file }]) => isKept(`Secret/${key}`, file));
  const read = checked.secrets.map(({ secret, source }) => {
    const key = `${secret.metadata.namespace}/${secret.metadata.name}`;
    return [key, { secret, file: source.file }] as const;
  });
  return new Map([...kept, ...read]);
}

export interface PassResult {
  readonly folder: string;
  readonly reading: FolderReading;
  readonly known: DevState;
  readonly verdicts: readonly Verdict[];
}
