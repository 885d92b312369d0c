// Takes a seed into what is empty: objects into collections that have none, values into root keys that have none. A file is stored as a
// whole or not at all: everything in it is validated before the first object of it is stored.

import type { Clock } from "../../../core/clock.ts";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { RootKeyConfig } from "../../../core/config/types.ts";
import { Problem } from "../../../core/errors/problem.ts";
import { mapLimited } from "../../../core/map-limited.ts";
import type { Directory, LiveProject, LiveResource } from "../../../dataplane/config/directory.ts";
import type { CollectionPreparer } from "../../../dataplane/objects/prepare-collection.ts";
import { maxObjectBytes } from "../../../dataplane/operation/plan.ts";
import type { DocumentReads, DocumentWrites } from "../../../dataplane/store/ports/documents.ts";
import type { ObjectLists } from "../../../dataplane/store/ports/lists.ts";
import type { NewObject, ObjectWrites } from "../../../dataplane/store/ports/objects.ts";
import { findSeedFiles, type SeedFile } from "./find-seed-files.ts";
import { objectsIn, type SeedEntry, SeedFault, valueIn } from "./read-seed.ts";
import { createSeededObjects } from "./seeded-object.ts";

export interface SeederOptions {
  /** Folder or file. */
  readonly path: string;
  /** Somebody named it: what is not taken in is said. */
  readonly isAsked: boolean;
  readonly directory: Pick<Directory, "loaded">;
  readonly store: Pick<ObjectWrites, "create"> & Pick<ObjectLists, "count"> & DocumentReads & DocumentWrites;
  readonly preparer: Pick<CollectionPreparer, "prepare">;
  readonly clock: Clock;
  /** Called as objects are stored. */
  readonly observe: (progress: SeedProgress) => void;
}

export interface SeedProgress {
  readonly name: string;
  readonly stored: number;
  readonly total: number;
}

export interface Seeder {
  /** Takes in what it has not looked at yet and is there to be filled; returns what is new, as lines for the terminal. */
  seed(): Promise<readonly string[]>;
}

/** Objects that are being stored at the same time: the store commits those of one turn together. */
const atATime = 64;
/** Mistakes of one file that are shown. */
const maxShown = 10;

export function createSeeder(options: SeederOptions): Seeder {
  /** By path, the version that was taken in, or can't be. */
  const done = new Map<string, string>();
  return {
    async seed() {
      const lines: string[] = [];
      for (const file of await filesOf(options)) {
        if (done.get(file.path) === file.version) continue;
        const target = targetOf(file, options.directory.loaded());
        if (target === undefined) continue;
        done.set(file.path, file.version);
        lines.push(...(await carryOut(file, target, options)));
      }
      return lines;
    },
  };
}

/** The folder beside the manifests is there or not; a path that somebody named was there when dev mode started. */
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

async function carryOut(file: SeedFile, target: Target, options: SeederOptions): Promise<readonly string[]> {
  if ("fault" in target) return [`Not seeded: ${target.fault}`];
  try {
    return "resource" in target ? await seedObjects(file, target, options) : await seedValue(file, target, options);
  } catch (error) {
    if (error instanceof SeedFault) return [`Not seeded: ${error.message}`];
    throw error;
  }
}

async function seedObjects(
  file: SeedFile,
  { project, resource }: { readonly project: LiveProject; readonly resource: LiveResource },
  { store, preparer, clock, observe, isAsked }: SeederOptions,
): Promise<readonly string[]> {
  const { name, maxObjects } = resource.config;
  const collection = { project: project.config, resource: name };
  await preparer.prepare(resource, collection);
  const present = await store.count(collection, {});
  if (present > 0) return isAsked ? [`Not seeded: ${name} has ${present} ${counted(present)} already`] : [];
  const rules = { schema: resource.schema, maxBytes: maxObjectBytes(project.config.limits) };
  const toObject = createSeededObjects(rules, clock);
  const total = await checkAll(file, toObject, maxObjects);
  let stored = 0;
  let batch: NewObject[] = [];
  const storeBatch = async (): Promise<void> => {
    await mapLimited(batch, atATime, async (object) => {
      const { outcome } = await store.create(collection, object, maxObjects);
      if (outcome !== "created")
        throw new SeedFault(`${name} is no longer empty: others wrote to it while ${file.path} was stored`);
    });
    stored += batch.length;
    batch = [];
    observe({ name, stored, total });
  };
  let index = 0;
  for await (const entry of objectsIn(file)) {
    batch.push(toObject(entry, index));
    index += 1;
    if (batch.length === atATime) await storeBatch();
  }
  await storeBatch();
  return [`Seeded ${name} with ${stored} ${counted(stored)} from ${file.path}`];
}

/** The number of objects, none of which has a fault. Throws SeedFault. */
async function checkAll(
  file: SeedFile,
  toObject: (entry: SeedEntry, index: number) => NewObject,
  maxObjects: number,
): Promise<number> {
  const faults: string[] = [];
  const ids = new Set<string>();
  let count = 0;
  let wrong = 0;
  for await (const entry of objectsIn(file)) {
    const found = faultsOf(() => {
      const { id } = toObject(entry, count);
      if (ids.has(id)) throw new SeedFault("/id: another object of the file has it too");
      ids.add(id);
    });
    count += 1;
    if (found.length > 0) wrong += 1;
    faults.push(...found.slice(0, maxShown - faults.length).map((fault) => `${file.path}${entry.at}: ${fault}`));
  }
  if (count > maxObjects) faults.push(`${file.path}: has ${count} objects, and the resource may hold ${maxObjects}`);
  if (faults.length === 0) return count;
  throw new SeedFault(
    `${wrong} of ${count} ${counted(count)} in ${file.path} can't be stored, so none is:\n  ${faults.join("\n  ")}`,
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
): Promise<readonly string[]> {
  const document = { project: project.config, rootKey: rootKey.key };
  if ((await store.readAt(document, [])).outcome !== "missing_document") {
    return isAsked ? [`Not seeded: ${rootKey.key} has a value already`] : [];
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
  return [`Seeded ${rootKey.key} with the value in ${file.path}`];
}

function counted(objects: number): string {
  return objects === 1 ? "object" : "objects";
}
