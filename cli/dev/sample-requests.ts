// Chooses a few command lines that show a running project at once: create, list, log in, read a value. Each reads its secret
// from the file where it is, so that it works when pasted and shows nothing.

import type { Operation, OperationAccess, Permission, ProjectParts, ResourceConfig } from "../../core/config/types.ts";
import { sampleObject } from "../../core/schema/sample-object.ts";
import { shellWord } from "../shell-words.ts";
import type { UsableCredential } from "./credentials.ts";

export interface SampleOptions {
  /** By `<namespace>/<name>`. */
  readonly published: ReadonlyMap<string, ProjectParts>;
  readonly credentials: readonly UsableCredential[];
  /** Origin that this machine reaches the API by. */
  readonly url: string;
}

interface ProjectView {
  readonly parts: ProjectParts;
  readonly base: string;
  readonly credentials: readonly UsableCredential[];
}

type Chooser = (project: ProjectView) => string | undefined;

const choosers: readonly Chooser[] = [createLine, listLine, loginLine, readLine];

/** At most one line of each sort, all of one project where it has them. */
export function sampleRequests({ published, credentials, url }: SampleOptions): readonly string[] {
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

/** The header that an operation takes, with a space before it; empty when it takes none, undefined when nobody here may. */
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
