// Fills what is empty with a seed: collections without objects, root keys without a value.
// Everything in a file is validated before its first object is stored, and after a failure what was
// stored is removed. If the process is killed meanwhile, a note in the data folder says so at the
// next start.

import { readFile, rm, writeFile } from "node:fs/promises";
import type { Clock } from "../../../core/clock.ts";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { RootKeyConfig } from "../../../core/config/types.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { mapLimited } from "../../../core/map-limited.ts";
import type { Directory, LiveProject, LiveResource } from "../../../dataplane/config/directory.ts";
import type { CollectionPreparer } from "../../../dataplane/objects/prepare-collection.ts";
import { objectRules } from "../../../dataplane/objects/validate-object.ts";
import type { DocumentReads, DocumentWrites } from "../../../dataplane/store/ports/documents.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import type { NewObject, ObjectWrites } from "../../../dataplane/store/ports/objects.ts";
import { collectionOf, documentOf } from "../../../dataplane/store/ports/refs.ts";
import type { Level } from "../../../pages/overview/state.ts";
import type { DevMessage } from "../report/messages.ts";
import { findSeedFiles, namesIn, objectsIn, type SeedEntry, SeedFault, type SeedFile, valueIn } from "./read-seed.ts";
import { createSeededObjects, type SeededObjects } from "./seeded-object.ts";
import { howToSplit, type SeedValue } from "./split-file.ts";

export interface SeederOptions {
  /** Folder or file. */
  readonly path: string;
  /** Set by --seed: files that are skipped are reported too. */
  readonly isAsked: boolean;
  readonly directory: Pick<Directory, "loaded">;
  readonly store: Pick<ObjectWrites, "create" | "remove"> & Pick<ObjectLists, "count"> & DocumentReads & DocumentWrites;
  readonly preparer: Pick<CollectionPreparer, "prepare">;
  readonly clock: Clock;
  /** Path of a note that exists while objects of a file are being stored. */
  readonly note: string;
  /** Called as objects are stored. */
  readonly observe: (progress: SeedProgress) => void;
}

export interface SeedProgress {
  readonly name: string;
  readonly stored: number;
  readonly total: number;
}

export interface Seeder {
  /** Stores what has not been tried yet and is there to be filled; returns what is new. */
  seed(): Promise<readonly DevMessage[]>;
}

/** Objects that are being stored at the same time: the store commits those of one turn together. */
const atATime = 64;
/** Mistakes of one file that are shown. */
const maxShown = 10;

export function createSeeder(options: SeederOptions): Seeder {
  /** By path, what was tried: the file as it was, for what was there. */
  const tried = new Map<string, string>();
  /** Why the files could not be read the last time. */
  let failure: string | undefined;
  const take = async (file: SeedFile): Promise<readonly DevMessage[]> => {
    const projects = options.directory.loaded();
    // Before there is a project, everything may still come.
    if (projects.length === 0) return [];
    const target = targetOf(file, projects);
    const attempt = `${file.version} ${target === undefined ? "" : targetText(target)}`;
    if (tried.get(file.path) === attempt) return [];
    const result = target === undefined ? await notNamed(file, projects) : await carryOut(file, target, options);
    tried.set(file.path, attempt);
    if (result === undefined) return [];
    const isTrue = (): boolean => tried.get(file.path) === attempt;
    return [{ text: result.text, shown: { level: result.level, about: file.path, isTrue } }];
  };
  return {
    async seed() {
      const messages = await interrupted(options);
      failure = undefined;
      try {
        const files = await filesOf(options);
        const paths = new Set(files.map((file) => file.path));
        for (const path of tried.keys()) if (!paths.has(path)) tried.delete(path);
        for (const file of files) messages.push(...(await take(file)));
      } catch (error) {
        // What was reconciled is served all the same.
        const text = `Not seeded: ${error instanceof Error ? error.message : String(error)}`;
        failure = text;
        messages.push({ text, shown: { level: "problem", about: options.path, isTrue: () => failure === text } });
      }
      return messages;
    },
  };
}

/** What became of one file. */
interface SeedResult {
  readonly level: Level;
  readonly text: string;
}

function notSeeded(why: string, level: Level = "problem"): SeedResult {
  return { level, text: `Not seeded: ${why}` };
}

/** Its manifest may come later; then the file is tried again. */
async function notNamed(file: SeedFile, projects: readonly LiveProject[]): Promise<SeedResult> {
  const { path, name, kind, project } = file;
  const kinds = { api: "resource", json: "root key" } as const;
  const what = kind === undefined ? "resource or root key" : kinds[kind];
  const where = project === undefined ? "" : ` in ${keyOfProject(project)}`;
  const values = await valuesIn(file, projects);
  const split = values.length === 0 ? "" : `. ${howToSplit(path, values)}`;
  return notSeeded(`${path}: there is no ${what} called ${name}${where}${split}`, "warning");
}

/** What one file has values for, such as json-server's `db.json`. */
async function valuesIn(file: SeedFile, projects: readonly LiveProject[]): Promise<readonly SeedValue[]> {
  try {
    return (await namesIn(file)).map((name) => ({ name, use: useOf(targetOf({ ...file, name }, projects)) }));
  } catch (error) {
    // Nothing is seeded from it: what is wrong in it is no matter here.
    if (error instanceof SeedFault) return [];
    throw error;
  }
}

function useOf(target: Target | undefined): SeedValue["use"] {
  if (target === undefined) return undefined;
  return "rootKey" in target ? "root key" : "resource";
}

/** A process was killed while it seeded. */
async function interrupted({ note }: SeederOptions): Promise<DevMessage[]> {
  try {
    const path = (await readFile(note, "utf8")).trim();
    await rm(note);
    const text = `Only a part of ${path} was stored when dev mode ended: to begin again, stop it and run jsonplane data reset`;
    return [{ text, shown: { level: "problem", about: `${path} (interrupted)` } }];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The default folder need not exist; a path from --seed existed at startup. */
async function filesOf({ path }: SeederOptions): Promise<readonly SeedFile[]> {
  try {
    return await findSeedFiles(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

type Target = { readonly project: LiveProject } & (
  | { readonly resource: LiveResource }
  | { readonly rootKey: RootKeyConfig }
  /** Why the file can't be taken in. */
  | { readonly fault: string }
);

/** Changes with the resource or root key: then the file may match. */
function targetText(target: Target): string {
  if ("fault" in target) return target.fault;
  return JSON.stringify("resource" in target ? target.resource.config : target.rootKey);
}

/** Undefined while there is nothing of that name: its manifest may come later. */
function targetOf(file: SeedFile, projects: readonly LiveProject[]): Target | undefined {
  const named = projects.filter(
    ({ config }) => file.project === undefined || keyOfProject(config) === keyOfProject(file.project),
  );
  const found = named.flatMap((project) => {
    const resource = file.kind === "json" ? undefined : project.resources.get(file.name);
    const rootKey = file.kind === "api" ? undefined : project.rootKeys.get(file.name);
    return [...(resource ? [{ project, resource }] : []), ...(rootKey ? [{ project, rootKey }] : [])];
  });
  const [first, second] = found;
  if (first === undefined || second === undefined) return first;
  const isOneProject = first.project === second.project;
  const instead = isOneProject ? "api/ or json/" : "a folder <namespace>/<project>/";
  return {
    project: first.project,
    fault: `${file.path}: there are several called ${file.name}: put the file into ${instead}`,
  };
}

/** Undefined where there is nothing to say. */
async function carryOut(file: SeedFile, target: Target, options: SeederOptions): Promise<SeedResult | undefined> {
  if ("fault" in target) return notSeeded(target.fault);
  try {
    return "resource" in target ? await seedObjects(file, target, options) : await seedValue(file, target, options);
  } catch (error) {
    // The file was changed between the two readings: what it has now is a problem.
    if (error instanceof Problem) return notSeeded(`${file.path}: ${error.message}`);
    if (error instanceof SeedFault) return notSeeded(error.message);
    throw error;
  }
}

async function seedObjects(
  file: SeedFile,
  { project, resource }: { readonly project: LiveProject; readonly resource: LiveResource },
  { store, preparer, clock, observe, isAsked, note }: SeederOptions,
): Promise<SeedResult | undefined> {
  const { name, maxObjects } = resource.config;
  const collection = collectionOf(project.config, resource);
  await preparer.prepare(resource, collection);
  const present = await store.count(collection, {});
  if (present > 0) {
    return isAsked ? notSeeded(`${name} has ${present} ${objectNoun(present)} already`, "note") : undefined;
  }
  const toObject = createSeededObjects(objectRules(resource, project.config), clock);
  const total = await checkAll(file, toObject, maxObjects);
  const create = (object: NewObject) => store.create(collection, object, maxObjects);
  const ids: string[] = [];
  await writeFile(note, `${file.path}\n`, { mode: 0o600 });
  try {
    for await (const batch of inBatches(objectsIn(file))) {
      await mapLimited(batch.map(toObject), atATime, async (object) => {
        const result = await create(object);
        if (result.outcome === "not_unique") {
          const fields = result.rule.fields.map((field) => field.name).join(", ");
          throw new SeedFault(`${file.path}: two objects of ${name} have the same ${fields} (spec.unique)`);
        }
        if (result.outcome === "expired") throw new SeedFault(`${file.path}: an object of ${name} has expired already`);
        if (result.outcome !== "created") throw new SeedFault(`${file.path}: ${name} is full`);
        ids.push(object.id);
      });
      observe({ name, stored: ids.length, total });
    }
  } catch (error) {
    await mapLimited(ids, atATime, (id) => store.remove(collection, id, {}));
    throw error;
  } finally {
    await rm(note, { force: true });
  }
  const stored = ids.length;
  return { level: "note", text: `Seeded ${name} with ${stored} ${objectNoun(stored)} from ${file.path}` };
}

async function* inBatches(entries: AsyncIterable<SeedEntry>): AsyncIterable<readonly SeedEntry[]> {
  let batch: SeedEntry[] = [];
  for await (const entry of entries) {
    batch.push(entry);
    if (batch.length < atATime) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** The number of objects, none of which has a fault. Throws SeedFault. */
async function checkAll(file: SeedFile, toObject: SeededObjects, maxObjects: number): Promise<number> {
  const faults: string[] = [];
  const ids = new Set<string>();
  let count = 0;
  let wrong = 0;
  for await (const entry of objectsIn(file)) {
    count += 1;
    if (count > maxObjects) {
      throw new SeedFault(
        `${file.path}: has more than ${maxObjects} objects (spec.limits.maxObjects), so none was stored`,
      );
    }
    const found = faultsOf(() => {
      const { id } = toObject(entry);
      if (ids.has(id)) throw new SeedFault("/id: another object of the file has it too");
      ids.add(id);
    });
    if (found.length > 0) wrong += 1;
    faults.push(...found.slice(0, maxShown - faults.length).map((fault) => `${file.path}${entry.at}: ${fault}`));
  }
  if (faults.length === 0) return count;
  throw new SeedFault(
    `${wrong} of ${count} ${objectNoun(count)} in ${file.path} can't be stored, so none is:\n  ${faults.join("\n  ")}`,
  );
}

function faultsOf(make: () => void): readonly string[] {
  try {
    make();
    return [];
  } catch (error) {
    if (error instanceof SeedFault) return [error.message];
    if (!(error instanceof Problem)) throw error;
    return error.errors?.map(({ pointer, message }) => `${pointer}: ${message}`) ?? [error.message];
  }
}

async function seedValue(
  file: SeedFile,
  { project, rootKey }: { readonly project: LiveProject; readonly rootKey: RootKeyConfig },
  { store, isAsked }: SeederOptions,
): Promise<SeedResult | undefined> {
  const document = documentOf(project.config, rootKey);
  if ((await store.readAt(document, [])).outcome !== "missing_document") {
    return isAsked ? notSeeded(`${rootKey.key} has a value already`, "note") : undefined;
  }
  const value = await valueIn(file);
  const bytes = Buffer.byteLength(value.text);
  const { maxDocumentBytes } = project.config.limits;
  if (bytes > maxDocumentBytes) {
    throw new SeedFault(
      `${file.path}: has ${bytes} bytes, and the value of a root key at most ${maxDocumentBytes} (spec.limits.maxDocumentBytes)`,
    );
  }
  await store.initialise(document, value.text);
  return { level: "note", text: `Seeded ${rootKey.key} with the value in ${file.path}` };
}

function objectNoun(objects: number): string {
  return objects === 1 ? "object" : "objects";
}

export interface Terminal {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const minTotal = 1_000;
const width = 24;
const clearLine = "\r\u001b[2K";

export function createSeedProgress(terminal: Terminal): (progress: SeedProgress) => void {
  return ({ name, stored, total }) => {
    if (terminal.isTTY !== true || total < minTotal) return;
    const filled = Math.floor((width * stored) / total);
    const bar = "#".repeat(filled).padEnd(width, ".");
    terminal.write(stored === total ? clearLine : `${clearLine}Seeding ${name} [${bar}] ${stored} of ${total}`);
  };
}
