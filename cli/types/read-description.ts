// The OpenAPI document of a project: made of a folder of manifests as dev mode makes it, or read
// from the project's URL. Throws ServiceRefused and ServerAway for a person to read.

import { systemClock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { CompiledProject, Json } from "../../core/config/types.ts";
import { valueAtPointer } from "../../core/json/json-pointer.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { createMemoryDirectory } from "../../dataplane/config/memory-directory.ts";
import { createDescriptions } from "../../dataplane/openapi/descriptions.ts";
import { checkManifests } from "../manifests/check-manifests.ts";
import { compileManifests } from "../manifests/compile-manifests.ts";
import { type ReadManifests, readManifests } from "../manifests/read-manifests.ts";
import { byPosition, problemLine, type SourcedObject } from "../manifests/source.ts";
import { baseUrlOf, requireType, type Service, ServiceRefused, textOf } from "../service/service.ts";

/**
 * `project` = `<namespace>/<name>`, needed where there are several. What belongs to others is not
 * checked.
 */
export async function describeFolder(folder: string, project: string | undefined): Promise<Json> {
  const read = await readOrRefuse(folder);
  const found = read.objects.flatMap(({ subject }) => /^Project\/(.+)/.exec(subject)?.[1] ?? []);
  const names = [...new Set(found)].toSorted();
  const chosen = chosenOf(folder, names, project);
  const others = new Set(names.filter((name) => name !== chosen));
  const checked = checkManifests({
    ...read,
    objects: read.objects.filter((each) => !others.has(projectOf(each) ?? "")),
  });
  const { configs, problems } = await compileManifests(checked);
  const all = [...checked.problems, ...problems].toSorted(byPosition);
  if (all.length > 0) throw new ServiceRefused([`${folder} is not valid:`, ...all.map(problemLine)].join("\n"));
  const config = configs.get(chosen ?? "");
  if (config === undefined) throw new ServiceRefused(`${folder}: there is no Project here`);
  return await documentOf(config);
}

async function readOrRefuse(folder: string): Promise<ReadManifests> {
  try {
    return await readManifests(folder);
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause;
    throw new ServiceRefused(`${folder}: no such file or folder`, { cause });
  }
}

function chosenOf(folder: string, names: readonly string[], wanted: string | undefined): string | undefined {
  if (wanted === undefined && names.length > 1)
    throw new ServiceRefused(`${folder} has several Projects: choose one with --project: ${names.join(", ")}`);
  if (wanted === undefined || names.length === 0 || names.includes(wanted)) return wanted ?? names[0];
  throw new ServiceRefused(`${folder} has no Project ${wanted}, but ${names.join(", ")}`);
}

/** `<namespace>/<name>` of the Project that it is, or names. */
function projectOf({ object, subject }: SourcedObject): string | undefined {
  const [kind, namespace, name] = subject.split("/");
  const own = kind === "Project" ? name : valueAtPointer(object, "/spec/projectRef/name");
  return own === undefined ? undefined : `${namespace}/${String(own)}`;
}

async function documentOf(project: CompiledProject): Promise<Json> {
  const { directory, put } = createMemoryDirectory(systemClock);
  put(project);
  const [live] = directory.loaded();
  if (live === undefined) throw new Error(`${keyOfProject(project.project)} is not live`);
  const { bytes } = await createDescriptions().of(live, "", { runFairly: async (work) => work() });
  return JSON.parse(Buffer.from(bytes).toString());
}

/** Undefined where it still has the tag. */
export async function readServed(
  service: Service,
  text: string,
  tag: string | undefined,
): Promise<{ readonly document: Json; readonly tag: string | undefined } | undefined> {
  const url = new URL(`${baseUrlOf(text.replace(/\/openapi\.json$/, ""))}/openapi.json`);
  const response = await unlessUnchanged(() =>
    service.read(url, { Accept: "application/json", ...(tag !== undefined && { "If-None-Match": tag }) }),
  );
  if (response === undefined) return undefined;
  requireType(response, url, "application/json", "an OpenAPI document");
  const document = parseOrUndefined(await textOf(response, url));
  if (document === undefined) throw new ServiceRefused(`${url.href} is no JSON`);
  return { document: document as Json, tag: response.headers.get("etag") ?? undefined };
}

async function unlessUnchanged(read: () => Promise<Response>): Promise<Response | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ServiceRefused && error.status === 304) return undefined;
    throw error;
  }
}
