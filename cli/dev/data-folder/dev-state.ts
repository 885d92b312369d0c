// What dev mode knows of objects beyond their manifests, as a cluster would: identity, last
// accepted version, live version, and the objects whose manifests were removed a moment ago.

import { isObject } from "../../../core/json/json-value.ts";
import { parseJson } from "../../../core/json/parse-json.ts";
import type { UncheckedObject } from "../../../core/manifests/object.ts";
import type { Manifest } from "../../../core/manifests/validate-manifest.ts";
import type { CustomResource, DeletionPolicy, StoredMeta } from "../../../operator/model/objects.ts";
import { StartRefused } from "../../start-refused.ts";
import { readText, writeAtomically } from "./files.ts";

export interface KnownObject {
  readonly uid: string;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  /** Grows with every accepted change of the spec. */
  readonly generation: number;
  /** The file it was last seen in, from the folder of manifests. */
  readonly file: string;
  /** The last version that passed the checks of the API server. */
  readonly manifest: Manifest;
  /** The last version that compile accepted; absent = the same as `manifest`; null = none yet. */
  readonly live?: Manifest | null;
  /** What resolve remembers of Secrets. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** An object whose manifest is gone: not served, its Secrets and data deleted seconds later. */
export interface PendingDeletion {
  readonly subject: string;
  readonly object: KnownObject;
  /** Unix milliseconds. */
  readonly removedAt: number;
  /** The effective policy when it was removed. */
  readonly deletionPolicy: DeletionPolicy;
}

export interface DevState {
  /** By `Kind/namespace/name`. */
  readonly objects: ReadonlyMap<string, KnownObject>;
  readonly pendingDeletions: readonly PendingDeletion[];
}

export const emptyState: DevState = Object.freeze({ objects: new Map(), pendingDeletions: [] });

/** The object as the API server would give it back, in the version `manifest`. */
export function storedObject(known: KnownObject, manifest: Manifest): CustomResource {
  const { uid, creationTimestamp, generation, status } = known;
  const metadata: StoredMeta = { ...manifest.metadata, uid, creationTimestamp, generation };
  return { ...manifest, metadata, ...(status !== undefined && { status }) } as CustomResource;
}

/** The version that is served while a newer one is refused. */
export function liveManifest({ live, manifest }: KnownObject): Manifest | undefined {
  return live === undefined ? manifest : (live ?? undefined);
}

/** `Project/namespace/name`: the Project itself, or the one that the object names. */
export function projectSubjectOf(manifest: Manifest): string {
  const name = manifest.kind === "Project" ? manifest.metadata.name : manifest.spec.projectRef.name;
  return `Project/${manifest.metadata.namespace}/${name}`;
}

/** False of what names no Project, like a manifest that is not valid. */
export function namesAnotherProject(object: UncheckedObject | Manifest, before: Manifest): boolean {
  if (before.kind === "Project") return false;
  const { spec } = object as UncheckedObject;
  const reference = isObject(spec) ? spec["projectRef"] : undefined;
  const name = isObject(reference) ? reference["name"] : undefined;
  return typeof name === "string" && name !== before.spec.projectRef.name;
}

const formatVersion = 1;

interface StoredState {
  readonly version: number;
  readonly objects: Readonly<Record<string, KnownObject>>;
  readonly pendingDeletions: readonly PendingDeletion[];
}

export interface StateFile {
  read(): Promise<DevState>;
  /** Writes only what differs from what was read or written last. */
  write(state: DevState): Promise<void>;
}

/** `requireInPlace` throws before a write when the data folder was replaced. */
export function createStateFile(file: string, requireInPlace = (): void => undefined): StateFile {
  let last: string | undefined;
  return {
    async read() {
      last = await readText(file);
      return last === undefined ? emptyState : stateOf(last, file);
    },
    async write({ objects, pendingDeletions }) {
      const state: StoredState = {
        version: formatVersion,
        objects: Object.fromEntries(objects),
        pendingDeletions,
      };
      const text = `${JSON.stringify(state)}\n`;
      if (text === last) return;
      requireInPlace();
      await writeAtomically(file, text);
      last = text;
    },
  };
}

function stateOf(text: string, file: string): DevState {
  const state = parsed(text, file);
  if (state.version !== formatVersion) {
    throw new StartRefused(
      `${file} was written by another version of jsonplane: use that one, or another folder with --data`,
    );
  }
  return { objects: new Map(Object.entries(state.objects)), pendingDeletions: state.pendingDeletions };
}

function parsed(text: string, file: string): StoredState {
  try {
    return parseJson(text) as StoredState;
  } catch (cause) {
    throw new StartRefused(`${file} is damaged: restore it, or choose another folder with --data`, { cause });
  }
}
