// Runs `jsonplane export`. A file is written as FILE.part and renamed once it is complete, so that
// FILE is never a part of an export. Exit code 1 where the export is not complete.

import { open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { credentialFrom } from "../service/credential.ts";
import { fetch } from "../service/fetch.ts";
import { note, showProgress } from "../service/notes.ts";
import { noteRefusal } from "../service/refusal.ts";
import { baseUrlOf, createService, ServiceRefused } from "../service/service.ts";
import { type DownloadDeps, download } from "./download.ts";
import { exportCsv } from "./export-csv.ts";
import { GrowingExport } from "./growing-export.ts";
import { continuePart, openPart, type PartFile, standardOutput } from "./part-file.ts";
import type { ExportSettings } from "./settings.ts";

export async function runExport(base: string, settings: ExportSettings): Promise<number> {
  try {
    const service = createService({ fetch, authorization: credentialFrom(settings) });
    if (settings.format === "csv") {
      const bytes = await exportCsv(service, baseUrlOf(base), settings);
      note(`Exported ${sizeOf(bytes)}${toFile(settings)}`);
      return 0;
    }
    const url = await urlOf(base, settings);
    const file = new GrowingExport();
    const progress = showProgress(() => amount(file));
    try {
      await write({ service, pause: sleep, note }, url, file, settings);
    } finally {
      progress.stop();
    }
    note(`Exported ${amount(file)}${toFile(settings)}`);
    return 0;
  } catch (error) {
    return noteRefusal(error);
  }
}

function toFile({ out }: ExportSettings): string {
  return out === undefined ? "" : ` to ${out}`;
}

async function urlOf(base: string, { resource, rootKey, owner, since }: ExportSettings): Promise<URL> {
  const url = new URL(`${baseUrlOf(base)}/export`);
  for (const name of resource ?? []) url.searchParams.append("_resource", name);
  for (const name of rootKey ?? []) url.searchParams.append("_rootKey", name);
  if (owner !== undefined) url.searchParams.set("_owner", owner);
  if (since !== undefined) url.searchParams.set("_since", await lastPosition(since));
  return url;
}

async function write(
  deps: Omit<DownloadDeps, "write">,
  url: URL,
  file: GrowingExport,
  settings: ExportSettings,
): Promise<void> {
  const part = await partOf(settings, file);
  try {
    await download({ ...deps, write: part.write }, url, file);
  } catch (error) {
    await part.close();
    if (settings.out !== undefined && file.lines > 0)
      note(`${settings.out}.part has what came so far; go on with --continue`);
    throw error;
  }
  await part.complete();
}

async function partOf({ out, continued }: ExportSettings, file: GrowingExport): Promise<PartFile> {
  if (out !== undefined) return continued ? await continuePart(out, file) : await openPart(out);
  if (continued) throw new ServiceRefused("--continue needs --out: what was written elsewhere is not known");
  return standardOutput;
}

function amount({ lines, bytes }: GrowingExport): string {
  return `${lines.toLocaleString("en")} ${lines === 1 ? "line" : "lines"}, ${sizeOf(bytes)}`;
}

function sizeOf(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** A last line is shorter, also with the positions of many logs. */
const lastBytes = 1024 * 1024;

/**
 * In the last line of the export in this file; `given` itself where there is no such file: then it
 * is a position.
 */
async function lastPosition(given: string): Promise<string> {
  const line = await lastLine(given);
  if (line === undefined) return given;
  const end = parseOrUndefined(line) as { readonly end?: unknown; readonly position?: unknown } | undefined;
  if (end?.end !== true) throw new ServiceRefused(`--since ${given} is no complete export: it has no last line`);
  if (typeof end.position === "string") return end.position;
  throw new ServiceRefused(
    `--since ${given} has no position, because something in it has no \`changes\` in its manifest; choose others with --resource and --root-key`,
  );
}

async function lastLine(path: string): Promise<string | undefined> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENAMETOOLONG") return undefined;
    throw new ServiceRefused(`--since ${path} can't be read: ${error.message}`, { cause: error });
  });
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(Math.min(size, lastBytes)),
      position: Math.max(0, size - lastBytes),
    });
    return buffer.subarray(0, bytesRead).toString().trimEnd().split("\n").at(-1) ?? "";
  } finally {
    await file.close();
  }
}
