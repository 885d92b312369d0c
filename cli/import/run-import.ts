// Runs `jsonplane import`: checks the whole file, then sends it. Exit code 1 where it is not whole,
// or not all of it was stored.

import { setTimeout as sleep } from "node:timers/promises";
import { untriedText } from "../../core/transfer/dry-run.ts";
import { ExportFault } from "../../core/transfer/export-reader.ts";
import { type CredentialFiles, credentialFrom } from "../service/credential.ts";
import { fetch } from "../service/fetch.ts";
import { note, showProgress } from "../service/notes.ts";
import { noteRefusal } from "../service/refusal.ts";
import { baseUrlOf, createService, ServiceRefused } from "../service/service.ts";
import { type ExportFile, openExport } from "./export-file.ts";
import { outcomes, type RefusedLine, Upload } from "./upload.ts";

export interface ImportSettings extends CredentialFiles {
  readonly mode: "create" | "replace";
  readonly dryRun: boolean;
  readonly fromLine: number;
}

export async function runImport(base: string, path: string, settings: ImportSettings): Promise<number> {
  try {
    const url = urlOf(base, settings);
    const authorization = credentialFrom(settings);
    const file = await openExport(path);
    try {
      const service = createService({ fetch, authorization });
      const upload = new Upload({ service, pause: sleep, note, onRefused: reporting() }, url);
      return await send(upload, file, settings);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!(error instanceof ExportFault)) return noteRefusal(error);
    note(`${path === "-" ? "Standard input" : path}, ${error.message}`);
    return 1;
  }
}

async function send(upload: Upload, file: ExportFile, { mode, dryRun, fromLine }: ImportSettings): Promise<number> {
  if (file.head.since !== undefined && mode === "create") {
    throw new ServiceRefused("The file has what has changed since an earlier export: import it with --mode replace");
  }
  const progress = showProgress(() => progressOf(upload.lastLine, file.lines));
  let isAll = false;
  try {
    isAll = await upload.send(file.toSend({ deletions: mode === "replace", from: fromLine }));
  } finally {
    progress.stop();
    if (!isAll && upload.lastLine > 0) note(`Stopped behind line ${upload.lastLine}; run it again to go on`);
  }
  const { counts } = upload;
  const told = outcomes.filter((outcome) => counts[outcome] > 0).map((outcome) => `${counts[outcome]} ${outcome}`);
  note(`${dryRun ? "Would have imported" : "Imported"}: ${told.join(", ") || "nothing"}`);
  if (dryRun) note(untriedText);
  return isAll && counts.refused === 0 ? 0 : 1;
}

function urlOf(base: string, { mode, dryRun }: ImportSettings): URL {
  return new URL(`${baseUrlOf(base)}/import?_mode=${mode}${dryRun ? "&_dryRun=true" : ""}`);
}

const maxReported = 100;

/** The first refused lines; the count has all. */
function reporting(): (refused: RefusedLine) => void {
  let reported = 0;
  return ({ line, code, detail }) => {
    reported += 1;
    // The service names its parameter, and people have the flag.
    if (reported <= maxReported) note(`line ${line}: ${code}: ${detail.replace("_mode=replace", "--mode replace")}`);
  };
}

function progressOf(lastLine: number, lines: number): string {
  const [done, all] = [lastLine, lines].map((number) => number.toLocaleString("en"));
  return `${done} of ${all} lines (${Math.floor((100 * lastLine) / lines)} %)`;
}
