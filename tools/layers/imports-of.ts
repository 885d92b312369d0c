// Lists what a TypeScript file imports, from its text. It relies on the formatter and linter:
// imports come first, statements start a line, specifiers stand in double quotes, and nothing is
// exported on from another file.

import { posix } from "node:path";

export interface Import {
  /** As written: `./port.ts`, `node:fs`, `ioredis`. */
  readonly specifier: string;
  /** For a relative specifier: the path from the root. */
  readonly target?: string;
  /** Only types come in, so that nothing is left of it at run time. */
  readonly typesOnly: boolean;
  readonly names: readonly string[];
  /** Counted from 1. */
  readonly line: number;
}

const statement = /^(?:import|export)\s+(type\s+)?([^;"']*?)\bfrom\s+"([^"]+)"/gm;
const bare = /^import\s+()()"([^"]+)"/gm;
const dynamic = /\bimport\(\s*()()"([^"]+)"/g;

export function importsOf(path: string, text: string): readonly Import[] {
  const head = text.slice(0, endOfImports(text));
  const found = [...head.matchAll(statement), ...head.matchAll(bare), ...withoutTemplates(text).matchAll(dynamic)];
  return found.map((match) => {
    const [, type = "", clause = "", specifier = ""] = match;
    const names = namesIn(clause);
    const typesOnly = type !== "" || (names.length > 0 && names.every((name) => name.startsWith("type ")));
    const line = text.slice(0, match.index).split("\n").length;
    const base = { specifier, typesOnly, names: names.map((name) => name.replace(/^type /, "")), line };
    return specifier.startsWith(".") ? { ...base, target: posix.join(posix.dirname(path), specifier) } : base;
  });
}

/** Blanks out template literals, whose text is no code; lines keep their numbers. */
function withoutTemplates(text: string): string {
  return text.replace(/`(?:[^`\\]|\\.)*`/gs, (template) => template.replace(/[^\n]/g, " "));
}

/**
 * Where the first line is that belongs to no import and no comment; a template further down may
 * well contain imports.
 */
function endOfImports(text: string): number {
  const code = /^(?!import\b|export\b.*\bfrom\b|\s|\/\/|\/\*|\}|#!)./m.exec(text);
  return code === null ? text.length : code.index;
}

function namesIn(clause: string): readonly string[] {
  const inside = /\{([^}]*)\}/.exec(clause)?.[1];
  const names = (inside ?? clause).split(",").map((name) => name.trim().replace(/\s+/g, " "));
  return names.filter((name) => name !== "");
}
