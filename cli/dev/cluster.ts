// Stands in for API server, operator and config publisher: reads the folder, decides what stands, resolves Secrets, compiles,
// makes it live in one step, remembers it, and says what is news.

import { relative } from "node:path";
import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { MemoryDirectory, RefusedResource } from "../../dataplane/config/memory-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { CheckSchema } from "../../operator/compile/schema-check.ts";
import type { Random } from "../../operator/resolve/mint.ts";
import { admit } from "./apply-manifests.ts";
import { type CompiledFolder, compileFolder, type Published, recallFolder } from "./compile-folder.ts";
import type { Knowledge } from "./dev-state.ts";
import { isDue, purgeGraves, removeSecrets } from "./pending-deletions.ts";
import { type FolderReading, type FolderSecret, readFolder } from "./read-folder.ts";
import { remember } from "./remember.ts";
import { newsOf, type Snapshot, snapshotOf } from "./report.ts";
import type { SecretFiles } from "./secret-files.ts";
import type { KnowledgeFile } from "./state-file.ts";

export interface ClusterOptions {
  readonly folder: string;
  readonly knowledge: KnowledgeFile;
  readonly secretFiles: SecretFiles;
  readonly live: MemoryDirectory;
  readonly checkSchema: CheckSchema;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly newUid: () => string;
  readonly hashPassword: (password: string) => Promise<string>;
  readonly isPasswordOf: (hash: string, password: string) => Promise<boolean>;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export interface ClusterView {
  readonly known: Knowledge;
  readonly published: Published;
  /** Generated Secrets, by `<namespace>/<name>`. */
  readonly generated: ReadonlyMap<string, Secret>;
  readonly folderSecrets: ReadonlyMap<string, FolderSecret>;
  /** Unix milliseconds: the earliest moment at which credentials are others although nothing was edited. */
  readonly nextAt?: number;
}

export interface Cluster {
  /**
   * One pass from the folder to what is live; answers with the news. Never two at a time. Rejects when a file can't be
   * read or written; what is live then stays, and the next pass starts from the same place.
   */
  reconcile(): Promise<readonly string[]>;
  view(): ClusterView;
}

interface State extends ClusterView {
  readonly snapshot?: Snapshot;
}

export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const { knowledge, secretFiles, checkSchema } = options;
  const known = await knowledge.read();
  const { secrets: generated } = await secretFiles.read();
  const secretOf = (namespace: string, name: string): Secret | undefined => generated.get(`${namespace}/${name}`);
  const published = recallFolder(known, { checkSchema, secretOf });
  let state: State = { known, published, generated, folderSecrets: new Map() };

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
  options: ClusterOptions,
  state: State,
): Promise<{ readonly next: State; readonly news: readonly string[] }> {
  const { knowledge, secretFiles, clock, newUid } = options;
  const reading = await readFolder(options.folder, state.known, state.folderSecrets);
  const now = clock.now();
  const fileKey = (file: string): string => relative(options.folder, file);
  const admitted = admit(reading.checked, state.known, { now, newUid, fileKey });
  // Identities first: a record that is sealed for a UID which a crash forgets would be worthless.
  if (hasNewIdentity(admitted, state.known)) await knowledge.write(admitted);

  const due = admitted.graves.filter((grave) => isDue(grave, admitted, now));
  const found = await removeSecrets(due, secretFiles);
  const compiled = await compile(options, { state, reading, admitted, found: found.secrets, now });
  const refused = options.live.replace([...compiled.published.values()]);
  const buried = await purgeGraves(due, admitted, { published: compiled.published, store: options.store });
  const remembered = remember(admitted, compiled, buried.done);
  await knowledge.write(remembered);

  const snapshot = snapshotOf({ folder: options.folder, reading, known: remembered, verdicts: compiled.verdicts });
  const { nextAt } = compiled;
  const next: State = {
    known: remembered,
    published: compiled.published,
    folderSecrets: reading.secrets,
    generated: (await secretFiles.read()).secrets,
    snapshot,
    ...(nextAt !== undefined && { nextAt }),
  };
  const news = [...newsOf(state.snapshot, snapshot), ...otherNews(compiled, refused, found.unreadable), ...buried.news];
  return { next, news };
}

function hasNewIdentity(now: Knowledge, before: Knowledge): boolean {
  return [...now.objects].some(([subject, { uid }]) => before.objects.get(subject)?.uid !== uid);
}

interface Pass {
  readonly state: State;
  readonly reading: FolderReading;
  readonly admitted: Knowledge;
  readonly found: ReadonlyMap<string, Secret>;
  readonly now: number;
}

async function compile(
  options: ClusterOptions,
  { state, reading, admitted, found, now }: Pass,
): Promise<CompiledFolder> {
  // A Secret of the folder stands before a generated one of its name, as it would have been there first.
  const secretOf = (namespace: string, name: string): Secret | undefined => {
    const key = `${namespace}/${name}`;
    return reading.secrets.get(key)?.secret ?? found.get(key);
  };
  return await compileFolder(admitted, state.published, {
    secretOf,
    now,
    writeSecret: (write) => options.secretFiles.write(write),
    checkSchema: options.checkSchema,
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
    ...unreadable.map((file) => `${file}:1:1: Is no Secret manifest any more: restore it, or remove it`),
  ];
}
