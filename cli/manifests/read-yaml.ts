// Turns the text of one file, YAML with one or more documents or JSON objects one after the other,
// into values with their positions and a list of what can't be read, each with line and column.
import { LineCounter, parseAllDocuments } from "yaml";
import type { Json } from "../../core/config/types.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { convertDocument, type Fault } from "./convert-document.ts";
import { kubectlFaults } from "./kubectl-text.ts";
import { type Position, Positions } from "./positions.ts";
import { explainError } from "./yaml-error.ts";

export interface YamlDocument {
  /** What could be read of it; to be used only where there is no problem. */
  readonly value: Json;
  readonly positions: Positions;
  readonly start: Position;
  readonly problems: readonly TextProblem[];
  /** Values that are read differently from how they are written. */
  readonly warnings: readonly TextProblem[];
}

export interface TextProblem extends Position {
  readonly pointer: string;
  readonly message: string;
}

export interface YamlText {
  /** Empty documents are left out. */
  readonly documents: readonly YamlDocument[];
  /** Problems of documents that are not YAML. */
  readonly problems: readonly TextProblem[];
  /** What kubectl can't read of the text, although the documents could be read here. */
  readonly faults: () => readonly TextProblem[];
}

export function readYaml(file: string): YamlText {
  const marked = file.replaceAll(markBehindDashes, "$1");
  const text = marked.replaceAll(/\r(?!\n)/g, "\n");
  const lines = linesOf(text);
  const documents: YamlDocument[] = [];
  const problems: TextProblem[] = [];
  let start = 0;
  for (const part of jsonObjects(text) ?? [text]) {
    for (const parsed of parsedDocuments(part)) {
      const read = readDocument(parsed, part, new Positions(lines, start));
      if ("problem" in read) problems.push(read.problem);
      else if (read.document !== undefined) documents.push(read.document);
    }
    start += part.length;
  }
  return { documents, problems, faults: () => kubectlFaults(marked).map(locatedBy(new Positions(lines, 0))) };
}

/** A byte order mark before a document, as where files were joined. */
const markBehindDashes = /^(---.*\r?\n)\uFEFF/gm;

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  return lines;
}

function locatedBy(positions: Positions): (fault: Fault) => TextProblem {
  return ({ offset, pointer, message }) => ({ ...positions.at(offset), pointer, message });
}

/** No document where it is empty. */
function readDocument(
  parsed: Parsed[number],
  text: string,
  positions: Positions,
): { readonly problem: TextProblem } | { readonly document: YamlDocument | undefined } {
  const located = locatedBy(positions);
  // The first mistake causes the others. Unknown tags, of which the parser only warns, are refused
  // later.
  const [error] = parsed.errors;
  if (error !== undefined)
    return { problem: located({ ...explainError(error, text, parsed.range?.[0] ?? 0), pointer: "" }) };
  const { value, faults, warnings } = convertDocument(parsed, positions);
  if (value === undefined) return { document: undefined };
  const start = positions.of("");
  return { document: { value, positions, start, problems: faults.map(located), warnings: warnings.map(located) } };
}

type Parsed = Extract<ReturnType<typeof parseAllDocuments>, readonly unknown[]>;

/**
 * The `failsafe` schema leaves every scalar a string, so that kubectl's rules can be applied to it.
 */
function parsedDocuments(text: string): Parsed | readonly never[] {
  const options = { schema: "failsafe", uniqueKeys: false, merge: false, prettyErrors: false } as const;
  const parsed = parseAllDocuments(text, { ...options, logLevel: "silent" });
  return Array.isArray(parsed) ? parsed : [];
}

const token = /"(?:[^"\\]|\\.)*"|[{}]/gs;

/** The objects' texts with the space before each; undefined for any other text. */
export function jsonObjects(text: string): readonly string[] | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  const objects: string[] = [];
  let start = 0;
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === "{") depth += 1;
    if (found === "}") depth -= 1;
    if (found !== "}" || depth !== 0) continue;
    objects.push(text.slice(start, index + 1));
    start = index + 1;
  }
  const isStream =
    objects.length > 1 &&
    text.slice(start).trim() === "" &&
    objects.every((each) => parseOrUndefined(each) !== undefined);
  return isStream ? objects : undefined;
}
