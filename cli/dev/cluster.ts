// Stands in for API server, operator and config publisher: reads the folder, decides what stands, resolves Secrets, compiles,
// makes it live in one step, remembers it, and says what is news. One run at a time; changes meanwhile make one more run.

import type { Clock } from "../../core/clock.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { MemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { createSchemaCheck } from "../../operator/compile/schema-check.ts";
import type { Random } from "../../operator/resolve/mint.ts";
import type { SourcedObject } from "../manifests/source.ts";
import { admit } from "./admit.ts";
import { isDue, purgeData, removeSecrets } from "./bury.ts";
import { type CompiledFolder, compileFolder, type Published, recallFolder } from "./compile-folder.ts";
import type { Grave, Knowledge, KnownObject } from "./known-objects.ts";
import { type FolderReading, type FolderSecret, readFolder } from "./read-folder.ts";
import { newsOf, type Snapshot, snapshotOf } from "./report.ts";
import type { SecretFiles } from "./secret-files.ts";
import type { KnowledgeFile } from "./state-file.ts";

export interface ClusterOptions {
  readonly folder: string;
  readonly knowledge: KnowledgeFile;
  readonly secretFiles: SecretFiles;
  readonly live: MemoryDirectory;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly newUid: () => string;
  readonly hashPassword: (password: string) => Promise<string>;
  readonly baseUrlOf: (ref: ProjectRef) => string;
}

export interface ClusterView {
  readonly known: Knowledge;
  readonly published: Published;
  /** Secrets of the folder and generated ones. */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly folderSecrets: ReadonlyMap<string, FolderSecret>;
}

export interface Cluster {
  /** One pass from the folder to what is live; answers with the news. Rejects when a file can't be read or written. */
  reconcile(): Promise<readonly string[]>;
  view(): ClusterView;
}

interface State {
  readonly known: Knowledge;
  readonly published: Published;
  readonly folderSecrets: ReadonlyMap<string, FolderSecret>;
  readonly generated: ReadonlyMap<string, Secret>;
  readonly snapshot?: Snapshot;
}

export async function createCluster(options: ClusterOptions): Promise<Cluster> {
  const checkSchema = createSchemaCheck();
  const known = await options.knowledge.read();
  const { secrets: generated } = await options.secretFiles.read();
  const secretOf = (namespace: string, name: string): Secret | undefined => generated.get(`${namespace}/${name}`);
  const published = recallFolder(known, { checkSchema, secretOf });
  let state: State = { known, published, generated, folderSecrets: new Map() };

  return {
    async reconcile() {
      const reading = await readFolder(options.folder, state.known, state.folderSecrets);
      const now = options.clock.now();
      const admitted = admit(reading.checked, state.known, { now, newUid: options.newUid });
      const due = admitted.graves.filter((grave) => isDue(grave, admitted, now));
      // Identities first: a record sealed for a UID that a crash forgets would be worthless.
      await options.knowledge.write(admitted);
      const { secrets: found, unreadable } = await options.secretFiles.read();
      for (const grave of due) await removeSecrets(grave, found, options.secretFiles);

      const compiled = await compile({ reading, admitted, now, found: await withoutRemoved(due, found) });
      const refused = options.live.replace([...compiled.published.values()]);
      const purged = await purgeAll(due, admitted, compiled.published);
      const remembered = remember(
        { ...admitted, graves: admitted.graves.filter((grave) => !due.includes(grave)) },
        compiled,
      );
      await options.knowledge.write(remembered);

      const snapshot = snapshotOf(findingsOf(reading, remembered, compiled));
      const news = [
        ...newsOf(state.snapshot, snapshot),
        ...unreadable.map((file) => `${file}:1:1: Is no Secret manifest any more: remove it or restore it`),
        ...refused.map(
          ({ project, resource }) => `${project.namespace}/${project.name}/api/${resource} can't be served`,
        ),
        ...compiled.ringsReplaced.map(
          ({ namespace, name }) => `Project/${namespace}/${name} signs with a new key: all sessions have ended`,
        ),
        ...purged.map((path) => `${path}: its data are deleted`),
      ];
      const { secrets: written } = await options.secretFiles.read();
      state = {
        known: remembered,
        published: compiled.published,
        folderSecrets: reading.secrets,
        generated: written,
        snapshot,
      };
      return news;
    },
    view: () => ({
      known: state.known,
      published: state.published,
      secrets: merged(state.folderSecrets, state.generated),
      folderSecrets: state.folderSecrets,
    }),
  };

  interface Pass {
    readonly reading: FolderReading;
    readonly admitted: Knowledge;
    readonly now: number;
    readonly found: ReadonlyMap<string, Secret>;
  }

  async function compile({ reading, admitted, now, found }: Pass): Promise<CompiledFolder> {
    const secrets = merged(reading.secrets, found);
    return await compileFolder(admitted, state.published, {
      checkSchema,
      secretOf: (namespace, name) => secrets.get(`${namespace}/${name}`),
      writeSecret: (write) => options.secretFiles.write(write),
      hashPassword: options.hashPassword,
      random: options.random,
      now,
      baseUrlOf: options.baseUrlOf,
    });
  }

  async function withoutRemoved(
    due: readonly Grave[],
    found: ReadonlyMap<string, Secret>,
  ): Promise<ReadonlyMap<string, Secret>> {
    return due.length === 0 ? found : (await options.secretFiles.read()).secrets;
  }

  async function purgeAll(due: readonly Grave[], known: Knowledge, published: Published): Promise<readonly string[]> {
    const purged: string[] = [];
    for (const grave of due) purged.push(...(await purgeData(grave, known, { published, store: options.store })));
    return purged;
  }
}

/** A Secret of the folder stands before a generated one of the same name, as it would have been there first. */
function merged(
  folder: ReadonlyMap<string, FolderSecret>,
  generated: ReadonlyMap<string, Secret>,
): ReadonlyMap<string, Secret> {
  const own = [...folder].map(([key, { secret }]) => [key, secret] as const);
  return new Map([...generated, ...own]);
}

function remember(known: Knowledge, { verdicts, statuses }: CompiledFolder): Knowledge {
  const accepted = new Set(verdicts.filter((verdict) => verdict.accepted).map(({ uid }) => uid));
  const objects = new Map<string, KnownObject>();
  for (const [subject, object] of known.objects) {
    const { live, ...rest } = object;
    const status = statuses.get(object.uid) ?? object.status;
    const kept = accepted.has(object.uid) || live === undefined ? {} : { live };
    objects.set(subject, { ...rest, ...kept, ...(status !== undefined && { status }) });
  }
  return { ...known, objects };
}

function findingsOf(reading: FolderReading, known: Knowledge, { verdicts }: CompiledFolder) {
  const sources = new Map<string, SourcedObject>();
  for (const { source } of reading.checked.manifests) sources.set(source.subject, source);
  return {
    known,
    verdicts,
    problems: reading.checked.problems,
    notes: reading.notes,
    locate: (subject: string, pointer: string) => {
      const source = sources.get(subject);
      return source === undefined ? undefined : { file: source.file, ...source.positionOf(pointer) };
    },
  };
}
