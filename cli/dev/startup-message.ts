// Turns what is served into the text that dev mode prints at its start: the overview's URL, base URLs, files of credentials, sample requests.

import { hidesObjects } from "../manifests/check-manifests.ts";
import { programWord, shellWord } from "../shell-words.ts";
import type { UsableCredential } from "./credentials.ts";
import type { DevOperatorView } from "./dev-operator.ts";
import type { Snapshot } from "./report.ts";
import { sampleRequests } from "./sample-requests.ts";

export interface StartupMessageOptions {
  readonly view: DevOperatorView;
  readonly credentials: readonly UsableCredential[];
  readonly folder: string;
  readonly isEmpty: boolean;
  readonly data: UsedDataFolder;
  /** Origin that this machine reaches the API by. */
  readonly url: string;
  /** What clients reach it by. */
  readonly publicUrl: string;
  readonly adminUrl: string;
}

export interface UsedDataFolder {
  readonly path: string;
  readonly isNew: boolean;
  /** Data may be in Redis; secrets are here. */
  readonly hasData: boolean;
  /** Folders with data of the same manifests, where this one is new. */
  readonly others: readonly string[];
}

export function startupMessage(options: StartupMessageOptions): readonly string[] {
  const { view, credentials, folder, data, url, publicUrl, adminUrl } = options;
  const keys = [...view.published.keys()];
  const first = `Open ${url}/ in a browser to see projects, credentials and problems.`;
  if (keys.length === 0)
    return [first, "", noProjectLine({ ...options, snapshot: view.snapshot }), ...dataLines(data), ""];
  const projects = keys.map((key) => [key, `${publicUrl}/${key}`] as const);
  const secrets = credentials.map(
    ({ kind, name, project, role, access, file }) => [`${kind} ${name}`, project, `${role}, ${access}`, file] as const,
  );
  const lines = sampleRequests({ published: view.published, credentials, url });
  return [
    first,
    "",
    ...block("Projects", columns(projects)),
    ...block("Credentials, each in its file", columns(secrets)),
    ...block("Try", lines),
    `Changes in ${folder} are live when saved; usage figures are at ${adminUrl}/usage; Ctrl-C stops.`,
    ...dataLines(data),
    "",
  ];
}

export interface NoProjectOptions extends Pick<StartupMessageOptions, "folder" | "isEmpty"> {
  readonly snapshot: Snapshot | undefined;
}

/** Says what to do: mend the Projects that are there, or a file that may have one, or save a first one. */
export function noProjectLine({ folder, isEmpty, snapshot }: NoProjectOptions): string {
  const problems = snapshot?.problems.filter(({ isAbsent }) => !isAbsent) ?? [];
  const refused = new Set(problems.flatMap(({ subject = "" }) => (subject.startsWith("Project/") ? [subject] : [])));
  if (refused.size > 0) return `No Project is served: mend ${[...refused].join(", ")}, and it is live.`;
  const unread = problems.find(hidesObjects);
  if (unread !== undefined)
    return `No Project is served: mend ${unread.file}, which can't be read, or save one in ${folder}.`;
  const advice = isEmpty ? `, or have one written with ${programWord()} init ${shellWord(folder)},` : "";
  return `No Project is served yet: save one in ${folder}${advice} and it is live.`;
}

function dataLines({ path, isNew, hasData, others }: UsedDataFolder): readonly string[] {
  return [
    `${hasData ? "Stored data and generated" : "Generated"} secrets are in ${path}${isNew ? ", which is new and empty" : ""}.`,
    ...others.map(
      (other) =>
        `${other} has data of the same manifests: to go on with them, stop, and start with --data ${shellWord(other)}.`,
    ),
  ];
}

function block(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`), ""];
}

function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
