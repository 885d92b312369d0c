// Writes JSON text with a member or an element on each line. Numbers, strings and repeated names
// stay exactly as written. Text that is not JSON, or is nested too deeply for indentation, is
// returned unchanged.

import { depthOf, endOfString, endOfValue } from "../../../core/json/walk.ts";

const indentation = "  ";
/** Levels of nesting that the server stores. */
export const maxStoredDepth = 64;
/** The white space of more levels grows with the square of their number. */
const maxDepth = 2 * maxStoredDepth;

export function prettyJson(text: string): string {
  if (!isJson(text) || depthOf(text) > maxDepth) return text;
  const parts: string[] = [];
  let depth = 0;
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const end = endOfToken(text, at);
    const next = skipSpace(text, end);
    const token = text.slice(at, end);
    parts.push(token);
    if (isOpener(token) && !isCloser(text.charAt(next))) depth += 1;
    // An empty object or array keeps its brackets together.
    if (isCloser(text.charAt(next)) && !isOpener(token)) depth -= 1;
    parts.push(spaceBetween(token, text.charAt(next), depth));
    at = next;
  }
  return parts.join("");
}

function spaceBetween(token: string, next: string, depth: number): string {
  if (token === ":") return " ";
  const breaks = isOpener(token) ? !isCloser(next) : token === "," || isCloser(next);
  return breaks ? `\n${indentation.repeat(depth)}` : "";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isOpener(token: string): boolean {
  return token === "{" || token === "[";
}

function isCloser(character: string): boolean {
  return character === "}" || character === "]";
}

/** The position after the string, the number or word, or the one character at `at`. */
function endOfToken(text: string, at: number): number {
  const character = text.charAt(at);
  if (character === '"') return endOfString(text, at);
  return "{}[],:".includes(character) ? at + 1 : endOfWord(text, at);
}

/** As endOfValue, but without the white space after a number or word. */
function endOfWord(text: string, at: number): number {
  const end = endOfValue(text, at);
  return at + text.slice(at, end).trimEnd().length;
}

/** The position of the next character that isn't white space in JSON. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
