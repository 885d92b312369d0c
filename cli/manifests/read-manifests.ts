// Reads a folder of manifests as `kubectl apply --recursive` would: every document of every file, lists taken apart. What
// can't be read is a problem with file and line; objects of foreign kinds are left out with a note.

import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Json, JsonObject } from "../../core/config/types.ts";
import { isArray, isObject } from "../../core/json/json-value.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import { defaultNamespace } from "../../core/manifests/metadata.ts";
import { apiVersion, group, kinds } from "../../core/manifests/object.ts";
import { nearest } from "../../core/nearest.ts";
import { listFiles } from "./list-files.ts";
import { readYaml, type TextProblem, type YamlDocument } from "./read-yaml.ts";
import type { SourcedObject, SourceNote, SourceProblem } from "./source.ts";

export interface ReadManifests {
  /** Objects of the five kinds and Secrets, in the order of files and documents, unchecked. */
  readonly objects: readonly SourcedObject[];
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceNote[];
}

const maxFileBytes = 4 * 1024 * 1024;
/** Read by other tools, never applied: of kustomize, and of an app beside its backend's manifests. */
const notManifests = /^(?:kustomization\.ya?ml|package(?:-lock)?\.json|tsconfig(?:\.\w+)?\.json)$/;

/** `path` is a folder or a file; rejects when it can't be read at all. */
export async function readManifests(path: string): Promise<ReadManifests> {
  const objects: SourcedObject[] = [];
  const problems: SourceProblem[] = [];
  const notes: SourceNote[] = [];
  for (const file of await listFiles(path)) {
    if (notManifests.test(basename(file))) continue;
    const text = await readText(file);
    const read = typeof text === "string" ? readFileText(file, text) : { objects: [], problems: [text], notes: [] };
    objects.push(...read.objects);
    problems.push(...read.problems);
    notes.push(...read.notes);
  }
  return { objects, problems, notes };
}

async function readText(file: string): Promise<string | SourceProblem> {
  const start = { file, line: 1, column: 1, pointer: "" };
  const { size } = await stat(file);
  if (size > maxFileBytes) return { ...start, message: `Is larger than ${maxFileBytes} bytes` };
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) return { ...start, message: "Is no UTF-8 text" };
    throw error;
  }
}

/** The objects in the text of one file. */
export function readFileText(file: string, text: string): ReadManifests {
  const about = { file, line: 1, column: 1, pointer: "" };
  if (file.endsWith(".json") && isForeignJson(text)) {
    return { objects: [], problems: [], notes: [{ ...about, message: "Is not a manifest, left out" }] };
  }
  const read = readYaml(text);
  const result: Parts = {
    objects: [],
    problems: read.problems.map((problem) => ({ ...problem, file })),
    notes: [],
  };
  for (const document of read.documents) addDocument(file, document, result);
  return result;
}

interface Parts {
  readonly objects: SourcedObject[];
  readonly problems: SourceProblem[];
  readonly notes: SourceNote[];
}

function addDocument(file: string, document: YamlDocument, result: Parts): void {
  const entries = entriesOf(document.value, "").map((entry) => ({ ...entry, found: classify(entry.value) }));
  const about = (fault: TextProblem) => ({ ...fault, file, ...within(entries, fault.pointer) });
  // Style and errors of foreign objects are for other tools to report.
  const ours = entries.some(({ found }) => found.ours);
  if (ours) result.notes.push(...document.warnings.map((warning) => ({ ...about(warning), isWarning: true }) as const));
  if (ours && document.problems.length > 0) {
    result.problems.push(...document.problems.map((problem) => ({ ...about(problem), isUnread: true }) as const));
    return;
  }
  for (const { found, pointer } of entries) {
    const start = { file, ...document.positions.of(pointer), pointer: "" };
    if (found.ours) result.objects.push(sourced(file, document, { value: found.object, pointer }));
    else (found.problem ? result.problems : result.notes).push({ ...start, message: found.message });
  }
}

/** The object of a list, or the only one, in which `pointer` leads somewhere, and the pointer from there. */
function within(entries: readonly Entry[], pointer: string): { readonly subject?: string; readonly pointer: string } {
  const entry = entries.find((each) => `${pointer}/`.startsWith(`${each.pointer}/`));
  if (!isObject(entry?.value)) return { pointer };
  return { subject: subjectOf(entry.value), pointer: pointer.slice(entry.pointer.length) };
}

/** Many tools keep JSON files; one without kind and apiVersion is not a manifest. */
function isForeignJson(text: string): boolean {
  try {
    const value = parseJson(text);
    return typeof value !== "object" || value === null || !("kind" in value || "apiVersion" in value);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

type Classification =
  | { readonly ours: true; readonly object: JsonObject }
  | { readonly ours: false; readonly problem: boolean; readonly message: string };

/** Whether an object is one of ours, a foreign one to leave out, or one that was meant to be ours. */
function classify(value: Json): Classification {
  if (!isObject(value)) return problem("A manifest is a mapping with apiVersion, kind, metadata and spec");
  const { kind } = value;
  const version = value["apiVersion"];
  if (isOwnGroup(version) || (version === "v1" && kind === "Secret")) return { ours: true, object: value };
  if (kind === undefined && version === undefined) return note("Has neither apiVersion nor kind, left out");
  if (typeof kind !== "string" || typeof version !== "string") {
    return problem(`A manifest needs apiVersion and kind, such as ${apiVersion} and Project`);
  }
  return classifyForeign(version, kind);
}

function classifyForeign(version: string, kind: string): Classification {
  const theirs = version.split("/")[0] ?? "";
  if (nearest(theirs, [group]) !== undefined) {
    return problem(`No such apiVersion ${version}, did you mean ${apiVersion}?`);
  }
  const alike = kinds.some((known) => known === kind) ? `, unlike ${apiVersion} ${kind}` : "";
  return note(`${version} ${kind} is not served here${alike}: left out`);
}

function isOwnGroup(version: Json | undefined): boolean {
  return typeof version === "string" && version.split("/")[0] === group;
}

function problem(message: string): Classification {
  return { ours: false, problem: true, message };
}

function note(message: string): Classification {
  return { ours: false, problem: false, message };
}

interface Entry {
  readonly value: Json;
  /** From the document's root. */
  readonly pointer: string;
}

/** The document itself, or what it lists: `List`, `ProjectList` and the like. */
function entriesOf(value: Json, pointer: string): readonly Entry[] {
  if (!isObject(value) || typeof value["kind"] !== "string" || !value["kind"].endsWith("List"))
    return [{ value, pointer }];
  const { items } = value;
  if (!isArray(items)) return [{ value, pointer }];
  return items.flatMap((item, index) => entriesOf(item, `${pointer}/items/${index}`));
}

function sourced(file: string, document: YamlDocument, entry: Entry & { readonly value: JsonObject }): SourcedObject {
  const { positions } = document;
  const within = (pointer: string): string => `${entry.pointer}${pointer}`;
  const start = entry.pointer === "" ? document.start : positions.of(entry.pointer);
  return {
    object: entry.value,
    file,
    line: start.line,
    subject: subjectOf(entry.value),
    positionOf: (pointer) => (pointer === "" ? start : positions.of(within(pointer))),
    positionOfKey: (pointer) => (pointer === "" ? start : positions.ofKey(within(pointer))),
    plainText: (pointer) => positions.plainText(within(pointer)),
  };
}

function subjectOf(object: JsonObject): string {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  const { name, namespace } = metadata;
  const text = (value: Json | undefined, otherwise: string): string =>
    typeof value === "string" && value !== "" ? value : otherwise;
  return `${text(object["kind"], "?")}/${text(namespace, defaultNamespace)}/${text(name, "?")}`;
}
