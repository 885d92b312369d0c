// Reads one line of an export: head, item or end, or says what is wrong with it.

import { type CanonicalResult, canonicalJsonOfBytes } from "../json/canonical.ts";
import { valuesOf } from "../json/members.ts";
import { objectId } from "../object-id.ts";
import { type ExportEnd, type ExportHead, type ExportItem, exportVersion } from "./lines.ts";

export type ExportLine =
  | ExportItem
  | { readonly kind: "head"; readonly head: ExportHead }
  | { readonly kind: "end"; readonly end: ExportEnd }
  | Fault;

interface Fault {
  readonly kind: "fault";
  /** For the person who has the file. */
  readonly reason: string;
  /** The line is the head of a file, and one that can't be used. */
  readonly isOfHead?: true;
  /** The export was broken off with this error of the service. */
  readonly code?: string;
}

/** With or without its "\n". `maxDepth` = levels of nesting of an object or value. */
export function readLine(bytes: Uint8Array, maxDepth: number): ExportLine {
  return lineOf(canonicalJsonOfBytes(bytes, depthOfLine(maxDepth)), bytes);
}

/** Levels of nesting of a line. */
export function depthOfLine(maxDepth: number): number {
  return maxDepth + 1;
}

/** The line, for who has read its JSON. */
export function lineOf(read: CanonicalResult, bytes: Uint8Array): ExportLine {
  if (!read.ok) {
    const { reason, at } = read.error;
    const before = Buffer.from(bytes).toString().slice(0, at);
    return faulty(`${reason} (byte ${Buffer.byteLength(before) + 1} of the line)`);
  }
  if (read.json.kind !== "object") return faulty("A line has to be a JSON object");
  const values = valuesOf(read.json.text);
  if (values.has("end")) return endIn(values);
  if (values.get("jsonplane") === '"export"') return headIn(values);
  if (values.has("error")) return brokenOff(values);
  return itemIn(values) ?? faulty("The line is no object, value or deletion of an export");
}

/** Why the end is not that of the lines before it. */
export function faultOfEnd(end: ExportEnd, read: Pick<ExportEnd, "lines" | "sha256">): string | undefined {
  if (end.lines !== read.lines) {
    return `The file had ${end.lines} lines between the first and the last, and has ${read.lines}`;
  }
  if (end.sha256 === read.sha256) return undefined;
  return "The checksum differs: a line before this one was changed, or lines changed places";
}

function faulty(reason: string): Fault {
  return { kind: "fault", reason };
}

function faultyHead(reason: string): Fault {
  return { ...faulty(reason), isOfHead: true };
}

function brokenOff(values: Values): Fault {
  const { error } = parsed(values) as { readonly error: { readonly code?: unknown; readonly detail?: unknown } | null };
  const code = String(error?.code);
  return { ...faulty(`The export was broken off here with ${code}: ${String(error?.detail)}`), code };
}

type Values = ReadonlyMap<string, string>;

function headIn(values: Values): ExportLine {
  const version = values.get("version");
  if (version !== String(exportVersion)) {
    return faultyHead(`The file has the version ${version ?? "?"} of the format; this program reads ${exportVersion}`);
  }
  const { jsonplane: _kind, version: _version, ...head } = parsed(values) as Partial<ExportHead> & Parsed;
  const { exportedAt, resources, rootKeys, projectUid, owner, since, after, position } = head;
  const isWhole =
    typeof exportedAt === "string" &&
    isNames(resources) &&
    isNames(rootKeys) &&
    [projectUid, owner, since, position].every(isTextIfThere);
  const isPlace = after === undefined || (typeof after?.resource === "string" && typeof after?.id === "string");
  if (!isWhole || !isPlace) return faultyHead("The first line is not the head of an export");
  return { kind: "head", head: head as ExportHead };
}

function endIn(values: Values): ExportLine {
  const { end, lines, sha256, position } = parsed(values) as Partial<ExportEnd> & Parsed;
  const isWhole = end === true && typeof lines === "number" && typeof sha256 === "string" && isTextIfThere(position);
  if (!isWhole) return faulty("This is not the last line of an export");
  return { kind: "end", end: { lines, sha256, ...(position !== undefined && { position }) } };
}

function itemIn(values: Values): ExportItem | undefined {
  const [first, second, ...more] = values;
  if (first === undefined || more.length > 0) return undefined;
  const [name, text] = first;
  if (name === "changes" && second === undefined && text === "true") return { kind: "changes" };
  return second === undefined ? undefined : itemOf(name, text, second);
}

type Entry = readonly [name: string, text: string];

function itemOf(name: string, text: string, [second, value]: Entry): ExportItem | undefined {
  if (!text.startsWith('"')) return undefined;
  const of = JSON.parse(text) as string;
  if (name === "rootKey" && second === "value") return { kind: "value", rootKey: of, text: value };
  if (name !== "resource") return undefined;
  if (second === "object" && objectStart.test(value)) return { kind: "object", resource: of, text: value };
  if (second === "deleted" && quotedId.test(value))
    return { kind: "deleted", resource: of, id: JSON.parse(value) as string };
  return undefined;
}

const quotedId = new RegExp(`^"${objectId}"$`);
/** Stored objects begin with their id. */
const objectStart = new RegExp(`^\\{"id":"${objectId}"[,}]`);

type Parsed = Record<string, unknown>;

function parsed(values: Values): unknown {
  return Object.fromEntries(Array.from(values, ([name, text]) => [name, JSON.parse(text)]));
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isTextIfThere(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
