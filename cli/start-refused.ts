// Why a command can't start, in a sentence for the person who started it: what is wrong and what to
// do. Anything else is a defect and stays an error.

import { stat } from "node:fs/promises";
import { programWord, shellWord } from "./shell-words.ts";

export class StartRefused extends Error {
  override readonly name = "StartRefused";
}

export async function requireFolder(folder: string): Promise<void> {
  const instead = `name one with manifests in it, or make one with ${programWord()} init ${shellWord(folder)}`;
  await requirePath(folder, `There is no folder ${folder}: ${instead}`);
}

export async function requireSeed(path: string): Promise<void> {
  await requirePath(path, `There is no ${path}: name a file such as books.ndjson, or a folder of them, with --seed`);
}

async function requirePath(path: string, message: string): Promise<void> {
  try {
    await stat(path);
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause;
    throw new StartRefused(message, { cause });
  }
}

/** Where a program listens, for refusals that speak of it. */
export interface Ports {
  readonly host: string;
  /** The value of --port; a program without an API has only --admin-port. */
  readonly port?: number;
}

/** Undefined when the error says nothing that a person could act on. */
export function refusalOf(error: unknown, { host, port }: Ports): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (refusals.has(error.name)) return error.message;
  const at = (error as { readonly port?: number }).port;
  const flag = at === port ? "--port" : "--admin-port";
  switch (codeOf(error)) {
    case "EADDRINUSE":
      return `Port ${at} is in use on ${host}: stop what listens there, or choose another with ${flag}`;
    case "EADDRNOTAVAIL":
      return `This machine has no address ${host}: choose another with --host`;
    case "EACCES":
      return at === undefined
        ? error.message
        : `Port ${at} takes more rights than this user has: choose another with ${flag}`;
    case "ENOTFOUND":
      return `The name ${host} is not known here: choose an address with --host`;
    default:
      return undefined;
  }
}

/** Errors whose message is meant for whoever starts the program. */
const refusals: ReadonlySet<string> = new Set([
  "StartRefused",
  "DataFolderUnusable",
  "DataFolderLost",
  "InvalidRedisUrl",
  "StoreUnavailable",
  "RedisFault",
  "InvalidKeyring",
  "FleetRingUnusable",
  "NoCluster",
]);

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
