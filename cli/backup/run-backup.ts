// Backs up each Project that the data inventories name: reads what is stored, writes it to the
// place, then removes the oldest files. A Project that fails doesn't keep others from being backed
// up. Redis is only read, but for what the operator shows of a backup in which nothing failed.

import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { type BackupReport, lastBackupField } from "../../core/config/backup-report.ts";
import { configKeys, keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { StoreUnavailable } from "../../core/errors/store-errors.ts";
import { describeError } from "../../core/log/describe-error.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import type { DataInventory } from "../../operator/model/data-inventory.ts";
import { dataInventoryPages } from "../../operator/publish/data-inventories.ts";
import { programOptions, runProgram } from "../run-program.ts";
import { note } from "../service/notes.ts";
import { StartRefused } from "../start-refused.ts";
import { backupName, isMeant, readBackupName } from "./file-names.ts";
import { openJobRedis } from "./open-redis.ts";
import { openPlace } from "./places/open-place.ts";
import { type Place, PlaceFailed } from "./places/place.ts";
import { exportOf, requireData, type StoredProject } from "./read-project.ts";
import type { BackupSettings } from "./settings.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** Resolves with the exit code: 1 where something was not backed up. */
export async function runBackup(place: string, settings: BackupSettings): Promise<number> {
  return await runProgram({ ...programOptions({ host: "" }), endsByItself: true }, async (cleanup) => {
    const opened = await openPlace(place, settings);
    const encrypt = await encryptionFor(settings.recipients);
    const { redisClient, store } = await openJobRedis(settings, "jsonplane-backup", cleanup);
    const beganAt = Date.now();
    const write = async (project: StoredProject): Promise<WrittenFile> => {
      const name = backupName(project.project, beganAt, settings.recipients.length > 0);
      const figures = { name, objects: 0, bytes: 0 };
      const onObjects = (count: number): void => {
        figures.objects += count;
      };
      const lines = exportOf({ store, redisClient, onObjects }, project);
      await pipeline(lines, createGzip(), encrypt, (content: Bytes) => opened.write(name, counted(content, figures)));
      return figures;
    };
    await requireData(redisClient);
    const unreadable = new Set<string>();
    const found = await storedProjects(redisClient, settings.projects, (project) => unreadable.add(project));
    for (const project of unreadable) note(`${project} is not backed up: what Redis holds of its data can't be read`);
    const done = await writeAll(found, { write, place: opened, keep: settings.keep });
    const report = { beganAt, endedAt: Date.now(), projects: found.length, ...done.figures };
    // A selection says nothing of the others.
    const isWhole = done.isWhole && unreadable.size === 0;
    if (isWhole && settings.projects.includes("*")) await writeReport(redisClient, report);
    return { ended: Promise.resolve(isWhole ? 0 : 1) };
  });
}

async function encryptionFor(recipients: readonly string[]): Promise<(content: Bytes) => Bytes> {
  if (recipients.length === 0) return (content) => content;
  const { encryptionTo } = await import("./encryption.ts");
  return encryptionTo(recipients);
}

interface Figures {
  objects: number;
  bytes: number;
}

interface WrittenFile extends Readonly<Figures> {
  readonly name: string;
}

async function* counted(content: Bytes, figures: Figures): Bytes {
  for await (const bytes of content) {
    figures.bytes += bytes.length;
    yield bytes;
  }
}

/** Served or retained, in order of their names; what is to be purged is left out. */
async function storedProjects(
  redisClient: RedisClient,
  patterns: readonly string[],
  onUnreadable: (project: string) => void,
): Promise<readonly StoredProject[]> {
  const found = new Map<string, StoredProject>();
  const tell = (key: string): void => void (isMeant(key, patterns) && onUnreadable(key));
  for await (const page of dataInventoryPages(redisClient, tell))
    for (const [key, inventory] of page) if (isMeant(key, patterns)) found.set(key, storedProject(key, inventory));
  const all = patterns.filter((pattern) => !pattern.endsWith("*"));
  const missing = all.find((pattern) => !found.has(pattern));
  if (missing !== undefined)
    throw new StartRefused(`Nothing is known of a Project ${missing}: no data are stored of it`);
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, project]) => project);
}

function storedProject(key: string, { entries }: DataInventory): StoredProject {
  const named = (what: "resource" | "rootkey"): readonly string[] =>
    entries.filter((entry) => entry.what === what && entry.purgeFromRevision === undefined).map(({ name }) => name);
  return { project: projectOfKey(key), resources: named("resource").toSorted(), rootKeys: named("rootkey").toSorted() };
}

interface Writing {
  readonly write: (project: StoredProject) => Promise<WrittenFile>;
  readonly place: Place;
  readonly keep: number;
}

async function writeAll(
  projects: readonly StoredProject[],
  { write, place, keep }: Writing,
): Promise<{ readonly figures: Figures; readonly isWhole: boolean }> {
  const figures = { objects: 0, bytes: 0 };
  let isWhole = true;
  for (const project of projects) {
    const key = keyOfProject(project.project);
    try {
      const written = await write(project);
      figures.objects += written.objects;
      figures.bytes += written.bytes;
      process.stdout.write(`${key}: ${written.objects} objects and values, ${written.bytes} bytes\n`);
      await removeOldest(place, { project: key, besides: written.name, keep });
    } catch (error) {
      const isTold = [PlaceFailed, StoreUnavailable, StartRefused].some((kind) => error instanceof kind);
      note(`${key} is not backed up: ${isTold ? (error as Error).message : describeError(error)}`);
      isWhole = false;
    }
  }
  return { figures, isWhole };
}

interface Removal {
  readonly project: string;
  /** The new one, which stays even where a clock that was ahead has named others later. */
  readonly besides: string;
  readonly keep: number;
}

async function removeOldest(place: Place, { project, besides, keep }: Removal): Promise<void> {
  const names = await place.names(project);
  const others = names.filter((name) => name !== besides && readBackupName(name)?.project === project);
  for (const name of others.slice(0, Math.max(0, others.length + 1 - keep))) await place.remove(name);
}

async function writeReport(redisClient: RedisClient, report: BackupReport): Promise<void> {
  await redisClient.write(configKeys.backup, "HSET", configKeys.backup, lastBackupField, JSON.stringify(report));
}
