// Turns the text of one file, YAML with one or more documents or JSON, into values with their positions and a list of what
// can't be read, each with line and column.
import { LineCounter, parseAllDocuments } from "yaml";
import type { Json } from "../../core/config/types.ts";
import { convertDocument, type Fault } from "./convert-document.ts";
import { type Position, Positions } from "./positions.ts";

export interface YamlDocument {
  /** What could be read of it; to be used only where there is no problem. */
  readonly value: Json;
  readonly positions: Positions;
  readonly start: Position;
  readonly problems: readonly TextProblem[];
  /** Values that are not read as they look. */
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
}

export function readYaml(text: string): YamlText {
  const lines = new LineCounter();
  const documents: YamlDocument[] = [];
  const problems: TextProblem[] = [];
  for (const parsed of parsedDocuments(text, lines)) {
    const positions = new Positions(lines);
    const located = ({ offset, pointer, message }: Fault): TextProblem => ({
      ...positions.at(offset),
      pointer,
      message,
    });
    // The first mistake makes the others. What the parser warns of, unknown tags, the conversion refuses in better words.
    const [error] = parsed.errors;
    if (error !== undefined) {
      const tooDeep = error.code === "RESOURCE_EXHAUSTION";
      const message = tooDeep ? "Is nested too deeply to be read" : sentence(error.message);
      problems.push(located({ offset: error.pos[0], pointer: "", message }));
      continue;
    }
    const { value, faults, warnings } = convertDocument(parsed, positions);
    if (value === undefined) continue;
    const start = positions.of("");
    documents.push({ value, positions, start, problems: faults.map(located), warnings: warnings.map(located) });
  }
  return { documents, problems };
}

type Parsed = Extract<ReturnType<typeof parseAllDocuments>, readonly unknown[]>;

/** The `failsafe` schema leaves every scalar a text, so that kubectl's rules can be applied to it. */
function parsedDocuments(text: string, lineCounter: LineCounter): Parsed | readonly never[] {
  const options = { lineCounter, schema: "failsafe", uniqueKeys: false, merge: false, prettyErrors: false } as const;
  const parsed = parseAllDocuments(text, { ...options, logLevel: "silent" });
  return Array.isArray(parsed) ? parsed : [];
}

function sentence(message: string): string {
  return message.split("\n")[0] ?? message;
}
