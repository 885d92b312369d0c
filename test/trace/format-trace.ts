// Writes a trace as text: a line of figures, then the files by room, each with the functions that
// run in it. Pure.

import type { Trace, TracedFunction } from "./trace.ts";

const width = 120;

/** `title` names what was asked. */
export function formatTrace(title: string, { outcome, files }: Trace): string {
  const functions = files.flatMap((file) => file.functions);
  const calls = functions.reduce((sum, { count }) => sum + count, 0);
  const head = `${title}: ${outcome}, ${files.length} files, ${functions.length} functions, ${calls} calls`;
  const rooms = [...Map.groupBy(files, ({ path }) => roomOf(path))];
  const indent = Math.max(0, ...rooms.map(([room]) => room.length)) + 4;
  const lines = rooms.flatMap(([room, those]) =>
    those.flatMap(({ path, functions: named }, at) => {
      const begin = `  ${(at === 0 ? room : "").padEnd(indent - 2)}${path.slice(path.lastIndexOf("/") + 1)}: `;
      return wrapped(begin, namesOf(named), indent + 4);
    }),
  );
  return `${[head, ...lines].join("\n")}\n`;
}

function roomOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Functions of one name together. */
function namesOf(functions: readonly TracedFunction[]): readonly string[] {
  return [...Map.groupBy(functions, ({ name }) => name)].map(([name, those]) => {
    const count = those.reduce((sum, each) => sum + each.count, 0);
    return count === 1 ? name : `${name} ×${count}`;
  });
}

function wrapped(begin: string, names: readonly string[], indent: number): readonly string[] {
  const lines: string[] = [];
  let line = begin;
  names.forEach((name, at) => {
    const next = at === names.length - 1 ? name : `${name}, `;
    if (line.length + next.trimEnd().length > width && line !== begin) {
      lines.push(line.trimEnd());
      line = " ".repeat(indent);
    }
    line += next;
  });
  return [...lines, line];
}
