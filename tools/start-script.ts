// The frame of every script that a person runs, be it an npm script or a make target: a failure
// that the person can mend ends it with one line and exit code 1, arguments that it doesn't take
// with exit code 2, a signal with the code that shells give it. A defect keeps its stack.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopSignal } from "../cli/run-program.ts";
import { PartMissing } from "./parts/part.ts";
import { endRunning } from "./parts/run-command.ts";
import { WrongArguments } from "./script-arguments.ts";

/** As shells have them. */
const codes = { failed: 1, wrongArguments: 2, unread: 141 } as const;

/** Thrown where a failure is foreseen: its message says what failed and what to do. */
export class ScriptFailed extends Error {
  override readonly name = "ScriptFailed";
}

export interface Script {
  /**
   * What a signal has to undo. Ctrl-C reaches child processes by itself; a signal to this process
   * alone doesn't.
   */
  onInterrupt(undo: () => Promise<void> | void): void;
}

/** Called first, with what the person typed, such as `npm run bench`. */
export function startScript(name: string): Script {
  reportFailures(name);
  const undoing: (() => Promise<void> | void)[] = [];
  void stopSignal().then(async (code) => {
    for (const undo of undoing.reverse()) await undo();
    endRunning();
    console.error(`${name}: interrupted`);
    process.exit(code);
  });
  return { onInterrupt: (undo) => void undoing.push(undo) };
}

/**
 * For a script that has its own answer to signals. Errors that nothing waits for are told as well.
 */
export function reportFailures(name: string): void {
  process.on("uncaughtException", (error: NodeJS.ErrnoException) => {
    // Nobody reads the output any more, as after `| head`.
    if (error.code === "EPIPE") process.exit(codes.unread);
    const failure = failureOf(error);
    console.error(failure === undefined ? error : `${name}: ${failure}`);
    process.exit(error instanceof WrongArguments ? codes.wrongArguments : codes.failed);
  });
}

/** What to tell the person; undefined for a defect, whose stack a developer needs. */
export function failureOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || isDefect(error)) return undefined;
  if (foreseen.some((kind) => error instanceof kind)) return error.message;
  const lines = [error, ...causesOf(error)].map(({ message }) => headOf(message));
  const [first, ...causes] = lines.filter(Boolean);
  const line = `${first ?? error.name}${causes.map((cause) => ` (${cause})`).join("")}`;
  const isWhole = [error, ...causesOf(error)].every(({ message }) => !message.includes("\n"));
  return isWhole ? line : `${line}. All that was said: ${written(error)}`;
}

const foreseen = [PartMissing, ScriptFailed, WrongArguments];
const defects = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * What the language throws is a defect, except what comes from the system: fetch says so with a
 * TypeError.
 */
function isDefect(error: Error): boolean {
  const codes = [error, ...causesOf(error)].map((each) => (each as NodeJS.ErrnoException).code);
  if (codes.some((code) => typeof code === "string" && /^E[A-Z0-9]+$/.test(code))) return false;
  return defects.some((kind) => error instanceof kind) || codes.includes("ERR_ASSERTION");
}

function causesOf({ cause }: Error): readonly Error[] {
  return cause instanceof Error ? [cause, ...causesOf(cause)] : [];
}

/** The first line, without the words that announce the others. */
function headOf(message: string): string {
  return (message.split("\n", 1)[0] ?? "").replace(/(?:; [^;]*)?:$|\.$/, "");
}

/** Logs of programs are too long for a line. */
function written(error: Error): string {
  const file = join(mkdtempSync(join(tmpdir(), "jsonplane-failure-")), "said.log");
  writeFileSync(file, [error, ...causesOf(error)].map(({ message }) => `${message}\n`).join("\n"));
  return file;
}
