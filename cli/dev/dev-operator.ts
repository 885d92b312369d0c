// Stands in for API server, operator and publisher: reads the folder, applies its manifests, resolves Secrets, compiles, makes the
// result live in one step, saves the state, and returns what is new as lines for the terminal.

import { relative } from "node:path";
import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { MemoryDirectory, RefusedResource } from "../../dataplane/config/memory-directory.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../../dataplane/store/ports/purges.ts";
import type { CheckResource } from "../../operator/compile/resource-check.ts";
import type { ResolveTools } from "../../operator/resolve/resolution.ts";
import { applyManifests } from "./apply-manifests.ts";
import { type CompiledFolder, compileFolder, type Published, recallFolder } from "./compile-folder.ts";
import type { DevState, KnownObject, PendingDeletion } from "./dev-state.ts";
import { isDue, purgeData, removeSecrets } from "./pending-deletions.ts";
import { type FolderReading, type FolderSecret, readFolder } from "./read-folder.ts";
import { newsOf, type Snapshot, snapshotOf } from "./report.ts";
import type { SecretFiles } from "./secret-files.ts";
import type { StateFile } from "./state-file.ts";
import { type StoredDataContext, storedDataNews } from "./stored-data-news.ts";

export interface DevOperatorOptions extends Pick<ResolveTools, "hashPassword" | "isPasswordOf" | "random"> {
  readonly folder: string;
  readonly stateFile: StateFile;
  readonly secretFiles: SecretFiles;
  readonly live: MemoryDirectory;
  readonly checkResource: CheckResource;
  readonly store: CollectionPurges & DocumentPurges & SessionPurges & StoredDataContext["store"];
  readonly clock: Clock;
  readonly newUid: () => string;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export interface DevOperatorView {
  readonly known: DevState;
  readonly published: Published;
  /** Generated Secrets, by `<namespace>/<name>`. */
  readonly generated: ReadonlyMap<string, Secret>;
  readonly folderSecrets: ReadonlyMap<string, FolderSecret>;
  /** Unix milliseconds: when credentials change next although nothing is edited. */
  readonly nextAt?: number;
  /** What is reported of the last pass; absent before the first one. */
  readonly snapshot?: Snapshot;
}

export interface DevOperator {
  /**
   * One pass from the folder to what is live; resolves with what is new. Never two at a time. Rejects when a file can't be
   * read or written; what is live then stays, and the next pass starts from the same state.
   */
  reconcile(): Promise<readonly string[]>;
  view(): DevOperatorView;
}

export async function createDevOperator(options: DevOperatorOptions): Promise<DevOperator> {
  const { stateFile, secretFiles, checkResource } = options;
  const known = await stateFile.read();
  const { secrets: generated } = await secretFiles.read();
  const secretOf = (namespace: string, name: string): Secret | undefined => generated.get(`${namespace}/${name}`);
  const published = recallFolder(known, { checkResource, secretOf });
  let state: DevOperatorView = { known, published, generated, folderSecrets: new Map() };

  return {
    async reconcile() {
      const { next, news } = await pass(options, state);
      state = next;
      return news;
    },
    view: () => state,
  };
}

async function pass(
  options: DevOperatorOptions,
  state: DevOperatorView,
): Promise<{ readonly next: DevOperatorView; readonly news: readonly string[] }> {
  const { stateFile, secretFiles, clock, newUid } = options;
  const reading = await readFolder(options.folder, state.known, state.folderSecrets);
  const now = clock.now();
  const fileKey = (file: string): string => relative(options.folder, file);
  const applied = applyManifests(reading.checked, state.known, { now, newUid, fileKey });
  // Identities first: a record that is sealed for a UID which a crash forgets would be worthless.
  if (hasNewIdentity(applied, state.known)) await stateFile.write(applied);

  const due = applied.pendingDeletions.filter((deletion) => isDue(deletion, applied, now));
  const found = await removeSecrets(due, secretFiles);
  const compiled = await compile(options, { state, reading, applied, found: found.secrets, now });
  const refused = options.live.replace([...compiled.published.values()]);
  const { published } = compiled;
  const dataNews = await storedDataNews(state.known, applied, { published, store: options.store });
  const purged = await purgeData(due, applied, { published, store: options.store });
  const known = nextState(applied, compiled, purged.done);
  await stateFile.write(known);

  const snapshot = snapshotOf({ folder: options.folder, reading, known, verdicts: compiled.verdicts });
  const { nextAt } = compiled;
  const next: DevOperatorView = {
    known,
    published: compiled.published,
    folderSecrets: reading.secrets,
    generated: (await secretFiles.read()).secrets,
    snapshot,
    ...(nextAt !== undefined && { nextAt }),
  };
  const news = [
    ...newsOf(state.snapshot, snapshot),
    ...otherNews(compiled, refused, found.unreadable),
    ...dataNews,
    ...purged.news,
  ];
  return { next, news };
}

/** Which versions are live after a compilation, which Secrets were resolved, and which deletions are left. */
function nextState(known: DevState, compiled: CompiledFolder, done: readonly PendingDeletion[]): DevState {
  const accepted = new Set(compiled.verdicts.filter((verdict) => verdict.accepted).map(({ uid }) => uid));
  const objects = new Map<string, KnownObject>();
  for (const [subject, object] of known.objects) {
    const { live, ...rest } = object;
    const status = compiled.statuses.get(object.uid) ?? object.status;
    // An accepted version becomes the live one; a refused one leaves the one before.
    const former = accepted.has(object.uid) || live === undefined ? {} : { live };
    objects.set(subject, { ...rest, ...former, ...(status !== undefined && { status }) });
  }
  return { objects, pendingDeletions: known.pendingDeletions.filter((deletion) => !done.includes(deletion)) };
}

function hasNewIdentity(now: DevState, before: DevState): boolean {
  return [...now.objects].some(([subject, { uid }]) => before.objects.get(subject)?.uid !== uid);
}

interface Pass {
  readonly state: DevOperatorView;
  readonly reading: FolderReading;
  readonly applied: DevState;
  readonly found: ReadonlyMap<string, Secret>;
  readonly now: number;
}

async function compile(
  options: DevOperatorOptions,
  { state, reading, applied, found, now }: Pass,
): Promise<CompiledFolder> {
  // A Secret of the folder wins over a generated one of its name: in a cluster it would have been there first.
  const secretOf = (namespace: string, name: string): Secret | undefined => {
    const key = `${namespace}/${name}`;
    return reading.secrets.get(key)?.secret ?? found.get(key);
  };
  return await compileFolder(applied, state.published, {
    secretOf,
    now,
    writeSecret: (write) => options.secretFiles.write(write),
    checkResource: options.checkResource,
    hashPassword: options.hashPassword,
    isPasswordOf: options.isPasswordOf,
    random: options.random,
    baseUrlOf: options.baseUrlOf,
  });
}

function otherNews(
  { ringsReplaced }: CompiledFolder,
  refused: readonly RefusedResource[],
  unreadable: readonly string[],
): readonly string[] {
  return [
    ...refused.map(({ project, resource }) => `${project.namespace}/${project.name}/api/${resource} can't be served`),
    ...ringsReplaced.map(
      ({ namespace, name }) => `Project/${namespace}/${name} signs with a new key: its sessions have ended`,
    ),
    ...unreadable.map((file) => `${file}:1:1: Is not a Secret manifest any more: restore it, or remove it`),
  ];
}
