// Deletes stored objects and values of dev mode's embedded store, all of them or those of some resources and root keys. Users, keys, passwords
// and sessions stay. Dev mode holds its data folder, so that the two never work at the same time.

import { systemClock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import { purgeCollection, purgeWholeDocument } from "../../dataplane/config/purge-whole.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { resourceNameOf, rootKeyOf } from "../../operator/model/claimed-name.ts";
import { type DataObject, isDataObject } from "../../operator/model/objects.ts";
import { projectRefOf } from "../../operator/model/project-objects.ts";
import { chooseDataFolder } from "../dev/choose-data-folder.ts";
import { openDataFolder } from "../dev/data-folder.ts";
import { type DevState, storedObject } from "../dev/dev-state.ts";
import { createStateFile } from "../dev/state-file.ts";
import { programOptions, runProgram } from "../run-program.ts";
import { requireFolder, StartRefused } from "../start-refused.ts";

export interface ResetSettings {
  readonly data: string | undefined;
  /** Names of resources and root keys, or paths as in the URL; none = all. */
  readonly only: readonly string[];
}

/** Resolves with the exit code. */
export async function runReset(folder: string, { data, only }: ResetSettings): Promise<number> {
  return await runProgram(programOptions({ host: "" }), async (closers) => {
    await requireFolder(folder);
    const opened = await openDataFolder(data ?? (await chooseDataFolder(folder)), folder);
    closers.push(() => opened.close());
    const wanted = chosen(await createStateFile(opened.file("objects.json")).read(), only, folder);
    const store = await createEmbeddedStore({ directory: opened.file("store"), clock: systemClock });
    closers.push(() => store.close());
    for (const object of wanted) process.stdout.write(`${await reset(object, store)}\n`);
    if (wanted.length === 0) process.stdout.write(`Nothing is stored for ${folder}\n`);
    return { ended: Promise.resolve(0) };
  });
}

/** Refuses a name that nothing has, before anything is deleted. */
function chosen(state: DevState, only: readonly string[], folder: string): readonly DataObject[] {
  const all = [...state.objects.values()].map((known) => storedObject(known, known.manifest)).filter(isDataObject);
  const unknown = only.find((name) => !all.some((object) => isNamed(object, name)));
  if (unknown !== undefined) {
    const names = all.map(pathOf).join(", ");
    throw new StartRefused(
      `${folder} has no resource or root key called ${unknown}; it has ${names === "" ? "none at all" : names}`,
    );
  }
  return only.length === 0 ? all : all.filter((object) => only.some((name) => isNamed(object, name)));
}

function isNamed(object: DataObject, name: string): boolean {
  return name === pathOf(object) || name === nameOf(object);
}

function nameOf(object: DataObject): string {
  return object.kind === "ApiResource" ? resourceNameOf(object) : rootKeyOf(object);
}

/** As in the URL: `<namespace>/<project>/api/<resource>`. */
function pathOf(object: DataObject): string {
  const kind = object.kind === "ApiResource" ? "api" : "json";
  return `${keyOfProject(projectRefOf(object))}/${kind}/${nameOf(object)}`;
}

async function reset(object: DataObject, store: Store): Promise<string> {
  const project = projectRefOf(object);
  if (object.kind === "RootKey") {
    await purgeWholeDocument(store, { project, rootKey: rootKeyOf(object) });
    return `${pathOf(object)}: its value is deleted; initialValue is served again`;
  }
  const collection = { project, resource: resourceNameOf(object) };
  const objects = await store.count(collection, {});
  await purgeCollection(store, collection);
  return `${pathOf(object)}: ${objects} ${objects === 1 ? "object is" : "objects are"} deleted`;
}
