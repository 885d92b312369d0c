// Says of a text that is not YAML where the mistake was made, which is before the place where the
// parser stopped, and what to write instead.

import type { ErrorCode, YAMLParseError } from "yaml";
import { type Token, yamlTokens } from "./yaml-tokens.ts";

interface Explained {
  readonly offset: number;
  readonly message: string;
}

const explanations: { readonly [code in ErrorCode]?: string } = {
  RESOURCE_EXHAUSTION: "Is nested too deeply to be read",
  BLOCK_AS_IMPLICIT_KEY:
    "A second name and colon follow a value here: write them on a line of their own, indented as their neighbours are, or put the value in quotes if the colon is part of it",
  BLOCK_IN_FLOW:
    "A second name and colon follow a value here: write a comma between them, or put the value in quotes if the colon is part of it",
  MULTILINE_IMPLICIT_KEY: "No colon is on this line: write a name, a colon, a space and the value",
};

/** `text` = what the parser was given, `start` = where the document begins in it. */
export function explainError({ code, message, pos: [offset] }: YAMLParseError, text: string, start: number): Explained {
  const open = unclosedBefore(offset - start, text.slice(start));
  if (open !== undefined) return { ...open, offset: start + open.offset };
  const found = text.charAt(offset);
  const closesNothing = code === "UNEXPECTED_TOKEN" && /[}\]]/.test(found);
  if (closesNothing) return { offset, message: `This ${found} closes nothing: remove it` };
  return { offset, message: explanations[code] ?? message.split("\n")[0] ?? message };
}

const closers: ReadonlyMap<string, string> = new Map([
  ["{", "}"],
  ["[", "]"],
]);

/** The brace, bracket or quote that is not closed, as far as the text is read up to `end`. */
function unclosedBefore(end: number, text: string): Explained | undefined {
  const open: Token[] = [];
  for (const token of yamlTokens(text)) {
    if (token.offset > end) return undefined;
    if (isOpenText(token)) return unclosed(token, token.source.charAt(0));
    if (isOpener(token)) open.push(token);
    const last = isEnd(token) ? open.pop() : undefined;
    if (last !== undefined && !closes(token, last)) return unclosed(last, last.source);
  }
  return open.map((token) => unclosed(token, token.source)).at(-1);
}

function closes({ source }: Token, opener: Token): boolean {
  return closers.get(opener.source) === source;
}

function isOpenText({ type, source }: Token): boolean {
  const isText = type === "double-quoted-scalar" || type === "single-quoted-scalar";
  return isText && (source.length === 1 || !source.endsWith(source.charAt(0)));
}

function isOpener({ type }: Token): boolean {
  return type === "flow-map-start" || type === "flow-seq-start";
}

function isEnd({ type }: Token): boolean {
  return type === "flow-map-end" || type === "flow-seq-end" || type === "flow-error-end";
}

function unclosed({ offset }: Token, opener: string): Explained {
  return {
    offset,
    message: `This ${opener} is not closed: write ${closers.get(opener) ?? opener} behind what it holds`,
  };
}
