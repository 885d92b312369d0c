// Turns the words of a command line into a command that runs, or into what is wrong with them: an
// unknown command or flag with the nearest known one, and every invalid setting. Returns the exit
// code: 2 when the command could not run.

import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Setting } from "../core/env/read-settings.ts";
import { nearest } from "../core/nearest.ts";
import type { Command, CommandArgument } from "./command.ts";
import { commandHelp, programHelp } from "./help.ts";

export interface Terminal {
  readonly out: (text: string) => void;
  readonly error: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const usageError = 2;

export async function runCommandLine(
  commands: readonly Command[],
  words: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [first] = words;
  if (first === undefined || ["--help", "-h", "help"].includes(first)) {
    return showHelp(commands, words.slice(1).join(" ") || undefined, terminal);
  }
  if (first === "--version" || first === "-V") {
    terminal.out(`${version()}\n`);
    return 0;
  }
  const command = commands.find(({ name }) => startsWith(words, name));
  if (command === undefined) return refuse(terminal, undefined, [unknownCommand(commands, words)]);
  const rest = words.slice(command.name.split(" ").length);
  if (rest.includes("--help") || rest.includes("-h")) return showHelp(commands, command.name, terminal);

  const parsed = parseWords(command, rest);
  const sources = { flags: parsed.flags, environment: terminal.environment };
  const prepared = command.prepare(sources, parsed.argument, parsed.second);
  const faults = [...parsed.faults, ...("faults" in prepared ? prepared.faults : [])];
  if (faults.length > 0 || !("run" in prepared)) return refuse(terminal, command, faults);
  return await prepared.run();
}

/** A command's name may have two words. */
function startsWith(words: readonly string[], name: string): boolean {
  return name.split(" ").every((word, at) => words[at] === word);
}

interface ParsedWords {
  readonly flags: ReadonlyMap<string, string>;
  readonly argument: string;
  readonly second: string;
  readonly faults: readonly string[];
}

function parseWords(command: Command, words: readonly string[]): ParsedWords {
  const known = Object.values(command.settings);
  const options = Object.fromEntries(
    known.map(({ flag, short, isSwitch }) => [
      flag,
      { type: isSwitch ? ("boolean" as const) : ("string" as const), ...(short !== undefined && { short }) },
    ]),
  );
  const { tokens } = parseArgs({ args: [...words], options, strict: false, allowPositionals: true, tokens: true });
  const flags = new Map<string, string>();
  const positionals: string[] = [];
  const faults: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const fault = optionFault(token, known);
    if (fault !== undefined) faults.push(fault);
    else flags.set(token.name, token.value ?? "true");
  }
  const argument = command.argument?.isList ? positionals.join(" ") : wordAt(positionals, 0, command.argument);
  const second = wordAt(positionals, 1, command.second);
  return { flags, argument, second, faults: [...faults, ...argumentFaults(command, positionals)] };
}

function wordAt(positionals: readonly string[], at: number, argument: CommandArgument | undefined): string {
  return argument === undefined ? "" : (positionals[at] ?? argument.fallback ?? "");
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
}

function optionFault({ name, rawName, value }: OptionToken, settings: readonly Setting<unknown>[]): string | undefined {
  const known = settings.map(({ flag }) => flag);
  const setting = settings.find(({ flag }) => flag === name);
  if (setting === undefined || ![`--${name}`, `-${setting.short}`].includes(rawName)) {
    const meant = nearest(name, known);
    return `${rawName} is not known${meant === undefined ? "" : `; did you mean --${meant}?`}`;
  }
  if (setting.isSwitch) return undefined;
  // Without `=`, a following flag would be taken for the value.
  if (value === undefined || (value.startsWith("--") && known.includes(value.slice(2).split("=", 1)[0] ?? ""))) {
    return `${rawName} needs a value`;
  }
  return undefined;
}

function argumentFaults({ argument, second }: Command, positionals: readonly string[]): readonly string[] {
  if (argument?.isList) return [];
  const taken = [argument, second].filter((each) => each !== undefined);
  const missing = taken.find(({ fallback }, at) => positionals[at] === undefined && fallback === undefined);
  if (missing !== undefined) return [`${missing.name} is missing: ${missing.help}`];
  return positionals.slice(taken.length).map((word) => `unexpected argument ${JSON.stringify(word)}`);
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): string {
  const [word = ""] = words;
  const names = commands.map(({ name }) => name);
  const group = names.filter((name) => name.startsWith(`${word} `));
  if (group.length > 0)
    return `${JSON.stringify(word)} is not a command by itself; did you mean ${group.join(" or ")}?`;
  const meant = nearest(word, names);
  return `${JSON.stringify(word)} is not a command${meant === undefined ? "" : `; did you mean ${meant}?`}`;
}

function showHelp(commands: readonly Command[], name: string | undefined, terminal: Terminal): number {
  const command = commands.find((known) => known.name === name);
  if (name !== undefined && command === undefined)
    return refuse(terminal, undefined, [unknownCommand(commands, name.split(" "))]);
  terminal.out(command === undefined ? programHelp(commands) : commandHelp(command));
  return 0;
}

function refuse(terminal: Terminal, command: Command | undefined, faults: readonly string[]): number {
  const help = command === undefined ? "jsonplane --help" : `jsonplane ${command.name} --help`;
  terminal.error(`${faults.map((fault) => `jsonplane: ${fault}\n`).join("")}See ${help}\n`);
  return usageError;
}

export function version(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}
