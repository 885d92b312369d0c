// Runs `jsonplane types`: writes the types once, or with --watch again whenever they may have
// changed. FILE is replaced in one step, and stays as it is where the types are the same or can't
// be made. Exit code 1 where they can't.

import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { watchFolders } from "../dev/apply/watch-folder.ts";
import { writeAtomically } from "../dev/data-folder/files.ts";
import { type Cleanup, runProgram } from "../run-program.ts";
import { type CredentialFiles, credentialFrom } from "../service/credential.ts";
import { fetch } from "../service/fetch.ts";
import { note } from "../service/notes.ts";
import { refusalOf, serviceProgram } from "../service/refusal.ts";
import { createService, ServiceRefused } from "../service/service.ts";
import { describeApi } from "./describe-api.ts";
import { describeFolder, readServed } from "./read-description.ts";
import { type TypesFormat, typesText } from "./write-types.ts";

export interface TypesSettings extends CredentialFiles {
  readonly out: string | undefined;
  readonly watch: boolean;
  readonly format: TypesFormat;
  readonly project: string | undefined;
}

export async function runTypes(source: string, settings: TypesSettings): Promise<number> {
  return await runProgram(serviceProgram, async (cleanup) => {
    if (settings.watch && settings.out === undefined) throw new ServiceRefused("--watch needs --out FILE");
    const types = isUrl(source) ? ofService(source, settings, cleanup.stopping) : ofFolder(source, settings);
    if (settings.watch) return { ended: follow(types, settings, cleanup) };
    await write(await types.make(), settings);
    return { ended: Promise.resolve(0) };
  });
}

interface Types {
  make(): Promise<string>;
  /** Where they are made of files, whose changes are noticed; otherwise one has to ask again. */
  readonly folder?: string;
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source);
}

function ofFolder(folder: string, { project, format }: TypesSettings): Types {
  return { folder, make: async () => typesText(describeApi(await describeFolder(folder, project)), format) };
}

function ofService(url: string, settings: TypesSettings, signal: AbortSignal): Types {
  const service = createService({ fetch, authorization: credentialFrom(settings), signal });
  let text = "";
  let tag: string | undefined;
  return {
    async make() {
      const served = await readServed(service, url, tag);
      if (served === undefined) return text;
      text = typesText(describeApi(served.document), settings.format);
      tag = served.tag;
      return text;
    },
  };
}

/** Milliseconds between two looks at a URL. */
const pollMs = 2_000;

async function follow(types: Types, settings: TypesSettings, cleanup: Cleanup): Promise<number> {
  const { stopping } = cleanup;
  let changed = Promise.withResolvers<void>();
  if (types.folder !== undefined) {
    const watching = watchFolders({ paths: [types.folder], onChange: () => changed.resolve() });
    cleanup.add(watching.stop);
    await watching.ready;
  }
  const stopped = new Promise<void>((resolve) => stopping.addEventListener("abort", () => resolve()));
  let lastFailure = "";
  while (!stopping.aborted) {
    // Before the folder is read: what changes meanwhile is read once more.
    changed = Promise.withResolvers();
    const failure = await failureOf(types, settings);
    if (failure !== lastFailure && failure !== "" && !stopping.aborted)
      note(`${failure}\n${settings.out} stays as it is`);
    lastFailure = failure;
    const later = types.folder === undefined ? sleep(pollMs, undefined, { signal: stopping }) : changed.promise;
    await Promise.race([later.catch(() => undefined), stopped]);
  }
  return 0;
}

/** Makes and writes the types; what a person should read if that fails, otherwise nothing. */
async function failureOf(types: Types, settings: TypesSettings): Promise<string> {
  try {
    await write(await types.make(), settings);
    return "";
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    return refusal;
  }
}

async function write(text: string, { out }: TypesSettings): Promise<void> {
  // A reader may be slow, and the program ends next.
  if (out === undefined) return await new Promise((resolve) => void process.stdout.write(text, () => resolve()));
  const before = await readFile(out, "utf8").catch(() => undefined);
  if (before === text) return;
  await writeAtomically(out, text, readableByAll);
  note(`Wrote ${out}`);
}

/** Less what the umask takes. */
const readableByAll = 0o666;
