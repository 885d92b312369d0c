// Reads a folder of manifests as `kubectl apply --recursive` would: every document of every file,
// lists split. What can't be read is a problem with file and line; objects of foreign kinds are
// left out with a note.

import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Json, JsonObject } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import { defaultNamespace } from "../../core/manifests/metadata.ts";
import { type Entry, entriesOf } from "./classify-object.ts";
import { listFiles } from "./list-files.ts";
import { jsonObjects, readYaml, type TextProblem, type YamlDocument } from "./read-yaml.ts";
import type { SourcedObject, SourceNote, SourceProblem } from "./source.ts";

export interface ReadManifests {
  /** Objects of the five kinds and Secrets, in the order of files and documents, unchecked. */
  readonly objects: readonly SourcedObject[];
  readonly problems: readonly SourceProblem[];
  readonly notes: readonly SourceNote[];
}

const maxFileBytes = 4 * 1024 * 1024;
/** Files of other tools, never applied: of kustomize, and of an app in the same folder. */
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
    const bytes = await readFile(file);
    return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return { ...start, message: "Is no UTF-8 text" };
    throw error;
  }
}

/** By the byte order mark, as kubectl does: PowerShell writes UTF-16. */
function encodingOf([first, second]: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
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
  if (result.objects.length > 0) result.problems.push(...read.faults().map((fault) => ({ ...fault, file })));
  return { ...result, problems: withoutBraces(text, result.problems) };
}

const template = "This looks like an unrendered Helm template: run `helm template` first, and read what it prints";

/** What YAML says of Helm's braces, on their line or the next, is said once and in other words. */
function withoutBraces(text: string, problems: readonly SourceProblem[]): readonly SourceProblem[] {
  const lines = text.split("\n");
  const isOfBraces = ({ line }: SourceProblem) => [line - 2, line - 1].some((index) => lines[index]?.includes("{{"));
  const [first] = problems.filter(isOfBraces);
  if (first === undefined) return problems;
  const { line, column } = first;
  const explained = { file: first.file, line, column, pointer: "", message: template, isUnread: true } as const;
  return [...problems.filter((problem) => !isOfBraces(problem)), explained];
}

interface Parts {
  readonly objects: SourcedObject[];
  readonly problems: SourceProblem[];
  readonly notes: SourceNote[];
}

function addDocument(file: string, document: YamlDocument, result: Parts): void {
  const entries = entriesOf(document.value);
  const about = (fault: TextProblem) => ({ ...fault, file, ...within(entries, fault.pointer) });
  // Style and errors of foreign objects are for other tools to report.
  const ours = entries.some(({ found }) => found.ours);
  if (ours) result.notes.push(...document.warnings.map((warning) => ({ ...about(warning), isWarning: true }) as const));
  if (ours && document.problems.length > 0) {
    result.problems.push(...document.problems.map((problem) => ({ ...about(problem), isUnread: true }) as const));
    return;
  }
  for (const entry of entries) addEntry(file, document, entry, result);
}

function addEntry(file: string, document: YamlDocument, { found, pointer }: Entry, result: Parts): void {
  const start = { file, ...document.positions.of(pointer), pointer: "" };
  if (!found.ours) {
    (found.problem ? result.problems : result.notes).push({ ...start, message: found.message });
  } else if (subjectOf(found.object).includes("{{")) {
    result.problems.push({ ...start, ...document.positions.of(`${pointer}/metadata/name`), message: template });
  } else {
    result.objects.push(sourced(file, document, { value: found.object, pointer }));
  }
}

/**
 * The only object, or the one of a list, in which `pointer` leads somewhere, and the rest of it.
 */
function within(entries: readonly Entry[], pointer: string): { readonly subject?: string; readonly pointer: string } {
  const entry = entries.find((each) => `${pointer}/`.startsWith(`${each.pointer}/`));
  if (!isObject(entry?.value)) return { pointer };
  return { subject: subjectOf(entry.value), pointer: pointer.slice(entry.pointer.length) };
}

/** Many tools keep JSON files; one without kind and apiVersion is not a manifest. */
function isForeignJson(text: string): boolean {
  try {
    const values = jsonObjects(text) ?? [text];
    return values.every((each) => [parseJson(each)].flat().every(isUntyped));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function isUntyped(value: unknown): boolean {
  return !isObject(value) || !("kind" in value || "apiVersion" in value);
}

function sourced(
  file: string,
  document: YamlDocument,
  entry: { readonly value: JsonObject; readonly pointer: string },
): SourcedObject {
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
