// Rules that look at one source file: length, name, its opening comment, `any`, TODOs, and the
// purity of the folders that promise it. Pure: a source in, violations out.

import type { Source } from "./read-sources.ts";
import { type Violation, violation } from "./violations.ts";

const maxLines = 400;
const drawers = /(^|[-_.])(utils?|helpers?|common|misc)([-_.]|$)/;
const opening = /^(\/\/|\/\*|--|#) ?\S/;
/** Folders that only check what they are given (docs/ARCHITECTURE.md). */
const pure: readonly string[] = ["dataplane/authorize/", "dataplane/openapi/describe/", "operator/compile/"];
/** Interfaces of the store that have calls; its other types are data. */
const storePort = /(?:Store|Reads|Writes|Lists|Indexes|Purges|Sizes|Counts|Counters|Buckets|Records|Feed|Check)$/;
const purePackages: ReadonlySet<string> = new Set(["node:crypto", "node:util"]);

const rules: readonly ((source: Source) => readonly Violation[])[] = [
  tooLong,
  nameOfADrawer,
  noOpeningComment,
  escapesTheTypes,
  unnumberedTodo,
  impure,
];

export function fileViolations(source: Source): readonly Violation[] {
  return rules.flatMap((rule) => rule(source));
}

function tooLong({ path, lines }: Source): readonly Violation[] {
  if (lines.length <= maxLines || path.endsWith(".generated.ts")) return [];
  return [
    violation(path, maxLines + 1, `has ${lines.length} lines, ${maxLines} are the limit: split it by what it does`),
  ];
}

function nameOfADrawer({ path }: Source): readonly Violation[] {
  const part = path.split("/").find((name) => drawers.test(name));
  return part === undefined
    ? []
    : [violation(path, 1, `"${part}" says nothing of what is inside: name it by what it does`)];
}

function noOpeningComment({ path, lines }: Source): readonly Violation[] {
  if (path.endsWith(".test.ts")) return [];
  const first = lines[0]?.startsWith("#!") ? lines[1] : lines[0];
  if (opening.test(first ?? "")) return [];
  return [violation(path, 1, "opens without a comment: what does it turn into what, and how can it refuse?")];
}

/** The linter refuses `any`; this refuses the ways around the linter and the compiler. */
function escapesTheTypes({ path, lines }: Source): readonly Violation[] {
  const wayAround = /(?:\/\/|\/\*).*(?:@ts-(?:ignore|nocheck)|biome-ignore.*noExplicitAny|biome-ignore-all)\b/;
  if (!path.endsWith(".ts")) return [];
  return lines.flatMap((line, index) =>
    wayAround.test(line) ? [violation(path, index + 1, "goes around the types: unknown and a check instead")] : [],
  );
}

function unnumberedTodo({ path, lines }: Source): readonly Violation[] {
  const todo = /(?:^|\s)(?:\/\/|--|#|\*) .*\b(?:TODO|FIXME|XXX)\b(?!.*#\d)/;
  return lines.flatMap((line, index) =>
    todo.test(line) ? [violation(path, index + 1, "a TODO carries an issue number (#7), or isn't there")] : [],
  );
}

function impure({ path, imports, lines }: Source): readonly Violation[] {
  const folder = pure.find((prefix) => path.startsWith(prefix));
  if (folder === undefined) return [];
  const packages = imports.filter(({ specifier, target, typesOnly }) => {
    return target === undefined && !typesOnly && !purePackages.has(specifier);
  });
  const clients = imports.filter(({ target, names }) => {
    const isOfStore = target === "dataplane/store/port.ts" || target?.startsWith("dataplane/store/ports/");
    return isOfStore === true && names.some((name) => storePort.test(name));
  });
  const violations = [...packages, ...clients].map(({ specifier, line }) =>
    violation(path, line, `${folder} is pure: it judges what it is given and imports no ${specifier}`),
  );
  const waiting = lines.findIndex((line) => /\bawait\b/.test(line) && !/^\s*(?:\/\/|\*)/.test(line));
  return waiting < 0 ? violations : [...violations, violation(path, waiting + 1, `${folder} is pure: it never waits`)];
}
