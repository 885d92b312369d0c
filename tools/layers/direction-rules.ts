// Rules of import direction (docs/ARCHITECTURE.md): which top folder may use which, the order of
// stages within a program, and no cycles. Pure: sources in, violations out.

import type { Import } from "./imports-of.ts";
import type { Source } from "./read-sources.ts";
import { type Violation, violation } from "./violations.ts";

/**
 * What each top folder may import besides itself; a folder that isn't named may import everything.
 */
const mayUse: Readonly<Record<string, readonly string[]>> = {
  core: [],
  operator: ["core"],
  pages: ["core"],
  client: ["core"],
  dataplane: ["core", "pages"],
  cli: ["core", "operator", "dataplane", "pages", "client"],
  tools: ["core", "operator", "dataplane", "cli", "pages", "client"],
};

/**
 * The stages of each program. A stage may use those before it, and, but for the programs in
 * countingTypes, the types of all: what a later stage does is none of its business. In the data
 * plane features stand behind the stages of every request. A new folder is named here, at its
 * place.
 */
const stages: Readonly<Record<string, readonly string[]>> = {
  operator: [
    "model",
    "observe",
    "kube",
    "lead",
    "queue",
    "watch",
    "guard-rails",
    "secrets",
    "resolve",
    "issuers",
    "compile",
    "publish",
    "keyring",
    "redis-users",
    "certificates",
    "stored-data",
    "deletion",
    "status",
    "events",
    "reconcile",
    "runtime",
  ],
  dataplane: [
    "store",
    "config",
    "route",
    "authenticate",
    "admission",
    "authorize",
    "http",
    "operation",
    "changes",
    "quotas",
    "objects",
    "documents",
    "sessions",
    "expiry",
    "transfer",
    "openapi",
    "observe",
  ],
};

/**
 * Rooms of one feature each, which know nothing of each other. "transfer" is none: an import writes
 * as objects and documents do.
 */
const features: Readonly<Record<string, readonly string[]>> = {
  dataplane: ["quotas", "objects", "documents", "sessions", "expiry", "openapi"],
};

/** Programs in which a type is imported by the rules for values: none from a later stage. */
const countingTypes: ReadonlySet<string> = new Set(["core", "dataplane"]);

/** Files straight in a program's folder that join stages; a stage never imports them. */
const joiners: ReadonlySet<string> = new Set(["decide.ts", "pipeline.ts", "app.ts"]);

/** Folders that join stages; a stage before them imports nothing of them, not even types. */
const joiningFolders: ReadonlySet<string> = new Set(["operator/reconcile", "operator/runtime"]);

export function directionViolations(sources: readonly Source[]): readonly Violation[] {
  const known = new Set(sources.map((source) => source.path));
  return [...sources.flatMap((source) => importViolations(source, known)), ...cycleViolations(sources)];
}

function importViolations(source: Source, known: ReadonlySet<string>): readonly Violation[] {
  return source.imports.flatMap((imported) => {
    const { target } = imported;
    if (target === undefined) return [];
    const checks = [missing(target, known), folder(source.path, target), stage(source.path, target, imported)];
    return checks
      .filter((message) => message !== undefined)
      .map((message) => violation(source.path, imported.line, message));
  });
}

function missing(target: string, known: ReadonlySet<string>): string | undefined {
  if (!target.endsWith(".ts") || known.has(target)) return undefined;
  // Whoever builds the example makes it.
  if (/^examples\/.*\.generated\.ts$/.test(target)) return undefined;
  return `imports ${target}, which doesn't exist`;
}

function folder(path: string, target: string): string | undefined {
  const from = topFolder(path);
  const to = topFolder(target);
  const allowed = mayUse[from];
  if (from === to || allowed === undefined || allowed.includes(to)) return undefined;
  return `${from} must not import ${to} (${target}); it may use ${["itself", ...allowed].join(", ")}`;
}

function stage(path: string, target: string, imported: Import): string | undefined {
  const program = topFolder(path);
  const order = stages[program];
  if (order === undefined || topFolder(target) !== program) return undefined;
  const from = stageOf(path);
  const to = stageOf(target);
  if (from === undefined) return undefined;
  if (to === undefined)
    return joinsStages(target) ? `a stage must not import ${target}, which joins the stages` : undefined;
  if (from === to) return undefined;
  const step = { program, order, from, to, target };
  const lenient = imported.typesOnly && !countingTypes.has(program);
  return unknownStage(program, [from, to]) ?? joinMessage(step) ?? (lenient ? undefined : stepMessage(step));
}

function unknownStage(program: string, folders: readonly string[]): string | undefined {
  const unknown = folders.find((name) => !stages[program]?.includes(name));
  return unknown === undefined
    ? undefined
    : `${program}/${unknown} is no known stage: name it in tools/layers/direction-rules.ts`;
}

interface Step {
  readonly program: string;
  readonly order: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly target: string;
}

function joinMessage({ program, order, from, to, target }: Step): string | undefined {
  if (!joiningFolders.has(`${program}/${to}`) || order.indexOf(to) < order.indexOf(from)) return undefined;
  return `${from} runs before ${to}, which joins the stages: it must not import ${target}`;
}

function stepMessage(step: Step): string | undefined {
  const { program, order, from, to, target } = step;
  if (order.indexOf(to) > order.indexOf(from)) {
    return countingTypes.has(program)
      ? `${from} stands before ${to}: it must not import ${target}`
      : `${from} runs before ${to}: it may import types of ${target}, not values`;
  }
  const apart = features[program] ?? [];
  if (apart.includes(from) && apart.includes(to))
    return `${from} and ${to} are features, which know nothing of each other: it must not import ${target}`;
  if (to === "store" && target.split("/").length > 3 && !target.startsWith("dataplane/store/ports/"))
    return `only app.ts chooses a store: import a port, not ${target}`;
  return undefined;
}

/** Imports that lead back to where they start, types included. Each cycle is reported once. */
function cycleViolations(sources: readonly Source[]): readonly Violation[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      violations.push(violation(path, 1, `import cycle: ${[...trail.slice(start), path].join(" → ")}`));
      return;
    }
    if (done.has(path)) return;
    for (const { target } of byPath.get(path)?.imports ?? []) {
      if (target !== undefined && byPath.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const source of sources) visit(source.path, []);
  return violations;
}

function topFolder(path: string): string {
  const slash = path.indexOf("/");
  return slash < 0 ? "" : path.slice(0, slash);
}

/** The second folder of a path; undefined for files straight in the program's folder. */
function stageOf(path: string): string | undefined {
  const parts = path.split("/");
  return parts.length > 2 ? parts[1] : undefined;
}

function joinsStages(path: string): boolean {
  return joiners.has(path.split("/").at(-1) ?? "");
}
