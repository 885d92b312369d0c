// Stands in for API server, operator and publisher: reads the folder, applies its manifests,
// resolves Secrets, compiles, makes the result live in one step, saves the state, and returns what
// is new as messages.

import { relative } from "node:path";
import type { Clock } from "../../../core/clock.ts";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { ProjectRef } from "../../../core/config/types.ts";
import type { Secret } from "../../../core/manifests/object.ts";
import type { MemoryDirectory, RefusedResource } from "../../../dataplane/config/memory-directory.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../../../dataplane/store/ports/purges.ts";
import type { HeldSchemas } from "../../../operator/compile/held-schema.ts";
import type { CheckResource } from "../../../operator/compile/resource-check.ts";
import type { ResolveTools } from "../../../operator/resolve/resolution.ts";
import type { DevState, KnownObject, PendingDeletion, StateFile } from "../data-folder/dev-state.ts";
import type { SecretFiles } from "../data-folder/secret-files.ts";
import type { DevMessage, MessageFacts } from "../report/messages.ts";
import { projectChanges } from "../report/project-changes.ts";
import { newsOf, type Snapshot, snapshotOf } from "../report/report.ts";
import { type CheckedStore, checkHeldSchemas, holdsSchemas, migrationNews } from "../stored-data/held-schemas.ts";
import { isDue, purgeData, removeSecrets } from "../stored-data/pending-deletions.ts";
import { type StoredDataContext, storedDataNews } from "../stored-data/stored-data-news.ts";
import { applyManifests } from "./apply-manifests.ts";
import { type CompiledFolder, compileFolder, recallFolder } from "./compile-folder.ts";
import type { DevIssuers } from "./dev-issuers.ts";
import { type FolderReading, type FolderSecret, readFolder } from "./read-folder.ts";

export interface DevOperatorOptions extends Pick<ResolveTools, "hashPassword" | "random" | "hmacKey"> {
  readonly folder: string;
  readonly stateFile: StateFile;
  readonly secretFiles: SecretFiles;
  readonly live: MemoryDirectory;
  readonly checkResource: CheckResource;
  readonly issuers: DevIssuers;
  readonly store: CollectionPurges & DocumentPurges & SessionPurges & StoredDataContext["store"] & CheckedStore;
  readonly clock: Clock;
  readonly newUid: () => string;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export interface DevOperatorView extends MessageFacts {
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
   * One pass from the folder to what is live; resolves with what is new. Never two at a time.
   * Rejects when a file can't be read or written: then nothing changes, and the next pass starts
   * from the same state.
   */
  reconcile(): Promise<readonly DevMessage[]>;
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
      const news: DevMessage[] = [];
      let held: HeldSchemas = new Map();
      const passOnce = async (): Promise<void> => {
        const done = await pass(options, state, held);
        state = done.next;
        news.push(...done.news);
      };
      await passOnce();
      // A look, and the last check.
      for (let checks = 0; checks < 2 && holdsSchemas(state.published, held); checks += 1) {
        held = await checkHeldSchemas(held, options.live.directory, options.store);
        await passOnce();
      }
      return [...news, ...migrationNews(held, state.published)];
    },
    view: () => state,
  };
}

async function pass(
  options: DevOperatorOptions,
  state: DevOperatorView,
  heldSchemas: HeldSchemas,
): Promise<{ readonly next: DevOperatorView; readonly news: readonly DevMessage[] }> {
  const { stateFile, secretFiles, clock, newUid } = options;
  const reading = await readFolder(options.folder, state.known, state.folderSecrets);
  const now = clock.now();
  const fileKey = (file: string): string => relative(options.folder, file);
  const applied = applyManifests(reading.checked, state.known, { now, newUid, fileKey });
  // Identities first: a record that is signed for a UID is worthless once a crash loses that UID.
  if (hasNewIdentity(applied, state.known)) await stateFile.write(applied);

  const found = await removeSecrets(applied, now, secretFiles);
  const compiled = await compile(options, { state, reading, applied, found: found.secrets, now, heldSchemas });
  const refused = options.live.replace([...compiled.published.values()]);
  const { published } = compiled;
  const dataNews = await storedDataNews(state.known, applied, { published, store: options.store });
  const due = applied.pendingDeletions.filter((deletion) => isDue(deletion, now));
  const purged = await purgeData(due, applied, { published, store: options.store });
  const known = nextState(applied, compiled, purged.done);
  await stateFile.write(known);

  const present = snapshotOf({ folder: options.folder, reading, known, verdicts: compiled.verdicts });
  const { nextAt } = compiled;
  // What is decided in a moment is told then.
  const snapshot = holdsSchemas(compiled.published, heldSchemas) ? state.snapshot : present;
  const faults = faultsOf(refused, found.unreadable);
  const next: DevOperatorView = {
    known,
    published: compiled.published,
    folderSecrets: reading.secrets,
    generated: (await secretFiles.read()).secrets,
    ...(snapshot !== undefined && { snapshot }),
    faults: faults.map(({ text }) => text),
    ...(nextAt !== undefined && { nextAt }),
  };
  const news = [
    ...(snapshot === present ? newsOf(state.snapshot, present, projectUrl(options)).map((text) => ({ text })) : []),
    ...faults,
    ...compiled.ringsReplaced.map(ringReplaced),
    ...projectChanges(state.known, applied),
    ...dataNews,
    ...purged.news,
  ];
  return { next, news };
}

function projectUrl({ baseUrlOf }: DevOperatorOptions): (subject: string) => string | undefined {
  return (subject) => {
    const [kind, namespace = "", name = ""] = subject.split("/");
    return kind === "Project" ? baseUrlOf({ namespace, name }) : undefined;
  };
}

/** The state after a compilation: live versions, resolved Secrets, remaining deletions. */
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
  readonly heldSchemas: HeldSchemas;
}

async function compile(
  options: DevOperatorOptions,
  { state, reading, applied, found, now, heldSchemas }: Pass,
): Promise<CompiledFolder> {
  // A Secret of the folder wins over a generated one of its name: in a cluster it would exist
  // first.
  const secretOf = (namespace: string, name: string): Secret | undefined => {
    const key = `${namespace}/${name}`;
    return reading.secrets.get(key)?.secret ?? found.get(key);
  };
  return await compileFolder(applied, state.published, {
    secretOf,
    now,
    writeSecret: (write) => options.secretFiles.write(write),
    checkResource: options.checkResource,
    issuers: options.issuers,
    heldSchemas,
    hashPassword: options.hashPassword,
    hmacKey: options.hmacKey,
    random: options.random,
    baseUrlOf: options.baseUrlOf,
  });
}

/** Said with every pass, as long as it is so. */
function faultsOf(refused: readonly RefusedResource[], unreadable: readonly string[]): readonly DevMessage[] {
  const fault = (about: string, text: string): DevMessage => ({
    text,
    shown: { level: "problem", about, isTrue: ({ faults = [] }) => faults.includes(text) },
  });
  return [
    ...refused.map(({ project, resource }) => {
      const path = `${keyOfProject(project)}/api/${resource}`;
      return fault(path, `${path} can't be served`);
    }),
    ...unreadable.map((file) =>
      fault(file, `${file}:1:1: Is not a Secret manifest any more: restore it, or remove it`),
    ),
  ];
}

function ringReplaced(ref: ProjectRef): DevMessage {
  const about = `Project/${keyOfProject(ref)}`;
  return { text: `${about} signs with a new key: its sessions have ended`, shown: { level: "note", about } };
}
