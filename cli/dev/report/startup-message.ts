// Turns what is served into the text that dev mode prints at its start: the overview's URL, base
// URLs, files of credentials, sample requests.

import type {
  CompiledProject,
  Operation,
  OperationAccess,
  Permission,
  ResourceConfig,
} from "../../../core/config/types.ts";
import { sampleObject } from "../../../core/schema/sample-object.ts";
import type { ShownNews } from "../../../pages/overview/state.ts";
import { hidesObjects } from "../../manifests/check-manifests.ts";
import { problemLine } from "../../manifests/source.ts";
import { programWord, shellWord } from "../../shell-words.ts";
import type { DevOperatorView } from "../apply/dev-operator.ts";
import type { UsableCredential } from "./credentials.ts";
import type { Snapshot } from "./report.ts";

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
  /** Folders with data of the same manifests. */
  readonly others: readonly OtherDataFolder[];
}

export interface OtherDataFolder {
  readonly path: string;
  /** The process that uses it now, if any. */
  readonly user: string | undefined;
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

/** Says what to do: fix the Projects that are there, or a file that may have one, or add one. */
export function noProjectLine({ folder, isEmpty, snapshot }: NoProjectOptions): string {
  const problems = snapshot?.problems.filter(({ isAbsent }) => !isAbsent) ?? [];
  const refused = new Set(problems.flatMap(({ subject = "" }) => (subject.startsWith("Project/") ? [subject] : [])));
  if (refused.size > 0) return `No Project is served: fix ${[...refused].join(", ")} to serve it.`;
  const unread = problems.find(hidesObjects);
  if (unread !== undefined)
    return `No Project is served: fix ${unread.file}, where the problem above is, or save one in ${folder}.`;
  const advice = isEmpty ? `, or have one written with ${programWord()} init ${shellWord(folder)},` : "";
  return `No Project is served yet: save one in ${folder}${advice} and it is live.`;
}

/** The last line before Ready: what is wrong may have scrolled away. */
export function problemsLine(
  snapshot: Snapshot | undefined,
  news: readonly ShownNews[],
  url: string,
): readonly string[] {
  const problems = new Set([
    ...(snapshot?.problems ?? []).map(problemLine),
    ...news.filter(({ level }) => level === "problem").map(({ text }) => text),
  ]);
  if (problems.size === 0) return [];
  return [`${problems.size} ${problems.size === 1 ? "problem" : "problems"}, listed above and at ${url}/`];
}

function dataLines({ path, isNew, hasData, others }: UsedDataFolder): readonly string[] {
  const where = `${hasData ? "Stored data and generated" : "Generated"} secrets are in ${path}`;
  return [`${where}${isNew ? ", which is new" : ""}.`, ...others.flatMap((other) => otherLine(other, isNew))];
}

function otherLine({ path, user }: OtherDataFolder, isNew: boolean): readonly string[] {
  if (user !== undefined)
    return [`Careful: ${user} serves the same manifests with other data, from ${path}. To use those, stop this one.`];
  if (!isNew) return [];
  return [
    `${path} has data of the same manifests: to use them, stop this one, and start it with --data ${shellWord(path)}.`,
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

export interface SampleOptions {
  /** By `<namespace>/<name>`. */
  readonly published: ReadonlyMap<string, CompiledProject>;
  readonly credentials: readonly UsableCredential[];
  /** Origin that this machine reaches the API by. */
  readonly url: string;
}

interface ProjectView {
  readonly parts: CompiledProject;
  readonly base: string;
  readonly credentials: readonly UsableCredential[];
}

type Chooser = (project: ProjectView) => string | undefined;

const choosers: readonly Chooser[] = [createLine, listLine, loginLine, readLine];

/** At most one line of each sort, all of one project where it has them. */
function sampleRequests({ published, credentials, url }: SampleOptions): readonly string[] {
  const projects = [...published].flatMap(([key, parts]): readonly ProjectView[] => {
    if (parts.project.serving === "Off") return [];
    const own = credentials.filter(({ project, read }) => project === key && read !== undefined);
    return [{ parts, base: `${url}/${key}`, credentials: own }];
  });
  const byRichness = projects
    .map((project) => ({ project, lines: choosers.map((choose) => choose(project)) }))
    .sort((a, b) => count(b.lines) - count(a.lines));
  return choosers.flatMap((_, index) => {
    const found = byRichness.find(({ lines }) => lines[index] !== undefined)?.lines[index];
    return found === undefined ? [] : [found];
  });
}

function count(lines: readonly (string | undefined)[]): number {
  return lines.filter((line) => line !== undefined).length;
}

function createLine(project: ProjectView): string | undefined {
  if (project.parts.project.serving !== "ReadWrite") return undefined;
  for (const resource of project.parts.resources.values()) {
    const authorization = authorizationFor(project, resource.access, "create");
    const body = authorization === undefined ? undefined : sampleObject(resource.schema);
    if (authorization === undefined || body === undefined) continue;
    return `${curl} -X POST ${urlOf(project, resource)}${authorization} -d ${shellWord(body)} ${newline}`;
  }
  return undefined;
}

function listLine(project: ProjectView): string | undefined {
  for (const resource of project.parts.resources.values()) {
    const authorization = authorizationFor(project, resource.access, "read");
    if (authorization !== undefined) return `${curl} ${urlOf(project, resource)}${authorization} ${newline}`;
  }
  return undefined;
}

function loginLine({ base, credentials }: ProjectView): string | undefined {
  const login = credentials.find(({ kind }) => kind === "login");
  if (login?.read === undefined) return undefined;
  return `${curl} -X POST ${base}/sessions/ -u "${login.name}:$(${login.read})" ${newline}`;
}

function readLine(project: ProjectView): string | undefined {
  for (const { key, access } of project.parts.rootKeys.values()) {
    const authorization = authorizationFor(project, access, "read");
    if (authorization !== undefined) return `${curl} ${project.base}/json/${key}${authorization} ${newline}`;
  }
  return undefined;
}

const curl = "curl -sS";
/** The answer has no final newline of its own, and a prompt should not stick to it. */
const newline = "&& echo";

function urlOf({ base }: ProjectView, { name }: ResourceConfig): string {
  return `${base}/api/${name}`;
}

/** The header of an operation, after a space; "" for none, undefined when nobody here may. */
function authorizationFor(
  { parts, credentials }: ProjectView,
  access: OperationAccess,
  operation: Operation,
): string | undefined {
  const permission: Permission = access[operation];
  if (permission === "Nobody") return undefined;
  if (permission === "Anyone" || parts.project.authentication === "Disabled") return "";
  const key = credentials.find(
    ({ kind, role, access: granted }) =>
      kind === "API key" &&
      (permission !== "Administrators" || role === "Administrators") &&
      (operation === "read" || granted === "Write"),
  );
  return key?.read === undefined ? undefined : ` -H "Authorization: apikey $(${key.read})"`;
}
