// Restores Projects from their backups with the writes that requests use, so that indexes, unique
// values, logs of changes and expiry follow. A Project is restored after its backup was read to the
// end. What is refused is told and doesn't keep the rest from being restored.

import { readFile } from "node:fs/promises";
import { projectConfigKey, projectOfKey } from "../../core/config/config-keys.ts";
import { Problem } from "../../core/errors/problem.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { mapLimited } from "../../core/map-limited.ts";
import { idIn } from "../../core/object-id.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";
import { untriedText } from "../../core/transfer/dry-run.ts";
import type { StoredItem } from "../../core/transfer/lines.ts";
import type { LiveProject } from "../../dataplane/config/directory.ts";
import { type FollowedKeyring, followKeyring } from "../../dataplane/config/follow-keyring.ts";
import { loadProject } from "../../dataplane/config/load-project.ts";
import { createCollectionPreparer } from "../../dataplane/objects/prepare-collection.ts";
import type { Written } from "../../dataplane/transfer/write-object.ts";
import { type BackupName, isMeant, readBackupName } from "../backup/file-names.ts";
import { openJobRedis } from "../backup/open-redis.ts";
import { openPlace } from "../backup/places/open-place.ts";
import { PlaceFailed } from "../backup/places/place.ts";
import { type Cleanup, programOptions, runProgram } from "../run-program.ts";
import { note } from "../service/notes.ts";
import { StartRefused } from "../start-refused.ts";
import { BackupUnusable, type ReadBackup, readBackup } from "./read-backup.ts";
import type { RestoreSettings } from "./settings.ts";
import { createItemWriter, type ItemWriter } from "./write-items.ts";

/** Writes under way at once: those of one turn leave together. */
const atOnce = 64;
/** Refusals that are told one by one, for each Project. */
const toldRefusals = 20;

/** Resolves with the exit code: 1 where something was not restored. */
export async function runRestore(word: string, settings: RestoreSettings): Promise<number> {
  const options = programOptions({ host: "" });
  const refusalOf = (error: unknown) =>
    error instanceof PlaceFailed || isStoreFailure(error) ? error.message : options.refusalOf(error);
  return await runProgram({ ...options, refusalOf, endsByItself: true }, async (cleanup) => {
    const place = await openPlace(word, settings);
    const found = backupsBefore(await place.names(""), settings.before);
    if (settings.projects === undefined) {
      for (const { name } of found) print(name);
      return { ended: Promise.resolve(0) };
    }
    const chosen = newestOf(found, settings.projects);
    const decrypt = await decryptionFor(settings.identityFile);
    const { store, preparer, redisClient, keyring } = await open(settings, cleanup);
    const unseen = new Set(settings.only);
    const restoreOne = async (backup: BackupName): Promise<boolean> => {
      const project = await servedProject(redisClient, keyring, backup.project);
      const read = await readBackup(place, backup, decrypt);
      for (const name of [...read.head.resources, ...read.head.rootKeys]) unseen.delete(name);
      const writer = await createItemWriter({ ...settings, store, preparer, project, head: read.head });
      return await restore(backup, writer, read);
    };
    let isWhole = true;
    for (const backup of chosen) {
      const isDone = await restoreOne(backup).catch((error: unknown) => {
        if (![StartRefused, BackupUnusable, PlaceFailed].some((kind) => error instanceof kind)) throw error;
        note(`${backup.project} is not restored: ${(error as Error).message}`);
        return false;
      });
      isWhole &&= isDone;
    }
    if (unseen.size > 0) note(`No backup that was read has ${[...unseen].join(", ")}`);
    isWhole &&= unseen.size === 0;
    noteUntried(settings);
    return { ended: Promise.resolve(isWhole ? 0 : 1) };
  });
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);

function noteUntried({ dryRun }: RestoreSettings): void {
  if (dryRun) note(untriedText);
}

async function open(settings: RestoreSettings, cleanup: Cleanup) {
  const { keyring: file } = settings;
  const keyring = await followKeyring({
    async read() {
      return await readFile(file, "utf8").catch((cause: unknown) => {
        throw new StartRefused(`The key ring's file ${file} can't be read`, { cause });
      });
    },
    onRefused: () => undefined,
  });
  cleanup.add(() => keyring.stop());
  const { redisClient, store } = await openJobRedis(settings, "jsonplane-restore", cleanup);
  const preparer = createCollectionPreparer(store, () => undefined);
  cleanup.add(() => preparer.close());
  return { keyring, redisClient, store, preparer };
}

async function decryptionFor(file: string | undefined) {
  if (file === undefined) return undefined;
  const { decryptionWith } = await import("../backup/encryption.ts");
  return await decryptionWith(file);
}

/** In order of Projects and time. */
function backupsBefore(names: readonly string[], time = Number.POSITIVE_INFINITY): readonly BackupName[] {
  return names.map(readBackupName).filter((backup) => backup !== undefined && backup.beganAt < time) as BackupName[];
}

/** The last one of each Project that is meant. */
function newestOf(found: readonly BackupName[], patterns: readonly string[]): readonly BackupName[] {
  const last = new Map(found.map((backup) => [backup.project, backup]));
  const missing = patterns.find((pattern) => ![...last.keys()].some((project) => isMeant(project, [pattern])));
  if (missing === undefined) return [...last.values()].filter(({ project }) => isMeant(project, patterns));
  throw new StartRefused(`There is no such backup of ${missing}: without --projects, those that there are are listed`);
}

async function servedProject(redisClient: RedisClient, keyring: FollowedKeyring, name: string): Promise<LiveProject> {
  const ref = projectOfKey(name);
  const key = projectConfigKey(ref);
  const fields = fieldsOf(await redisClient.read(key, "HGETALL", key));
  const loaded = await loadProject(keyring, ref, fields, undefined);
  const [refusal] = loaded?.refusals ?? [];
  if (refusal !== undefined)
    throw new StartRefused(`The configuration of ${name} can't be used: ${refusal.field}: ${refusal.reason}`);
  if (loaded?.live !== undefined) return loaded.live;
  throw new StartRefused(`${name} is not served: apply its manifests, and wait until the Project is Ready`);
}

/** False where something is not restored. */
async function restore(
  { name, project }: BackupName,
  { write, leftOut }: ItemWriter,
  { items }: ReadBackup,
): Promise<boolean> {
  const counts = new Map<Written | "refused", number>();
  const count = (outcome: Written | "refused"): number => {
    const sum = (counts.get(outcome) ?? 0) + 1;
    counts.set(outcome, sum);
    return sum;
  };
  const writeOne = async (item: StoredItem): Promise<void> => {
    try {
      const outcome = await write(item);
      if (outcome !== undefined) count(outcome);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (count("refused") <= toldRefusals) note(`${nameOf(item)} is not restored: ${error.message}`);
    }
  };
  await items(async (some) => void (await mapLimited(some, atOnce, writeOne)));
  const figures = Array.from(counts, ([outcome, number]) => `${number} ${outcome}`);
  print(`${project}: ${figures.join(", ") || "nothing to restore"} (${name})`);
  if (leftOut.length > 0)
    note(`${project} does not declare ${leftOut.join(", ")}, which the backup has: declare it, or choose with --only`);
  return !counts.has("refused") && leftOut.length === 0;
}

function nameOf(item: StoredItem): string {
  if (item.kind === "object") return `${item.resource}/${idIn(item.text)}`;
  return item.kind === "value" ? item.rootKey : "A deletion";
}
