// Turns the commands into what `--help` prints.

import { variableOf } from "../core/env/read-settings.ts";
import type { Command, CommandArgument } from "./command.ts";

export function programHelp(commands: readonly Command[]): string {
  const lines = commands.map((command) => [usage(command), command.summary] as const);
  return [
    "A JSON backend declared in YAML.",
    "",
    "Usage:",
    ...columns([...lines, ["--help", "Show this, or with a command what it takes"], ["--version", "Show the version"]]),
    "",
    "Every flag has an environment variable: --admin-port is JSONPLANE_ADMIN_PORT. The flag wins.",
    "",
  ].join("\n");
}

export function commandHelp(command: Command): string {
  const settings = Object.values(command.settings).map(({ flag, short, placeholder, help, fallback, isSwitch }) => {
    const long = isSwitch ? `--${flag}` : `--${flag} ${placeholder}`;
    const shown = short === undefined ? long : `-${short}, ${long}`;
    return [shown, isSwitch || !fallback ? help : `${help} (${fallback})`, variableOf(flag), long] as const;
  });
  const words = [command.argument, command.second].filter((each) => each !== undefined);
  const hasSettings = settings.length > 0;
  const flags = [
    ...columns(settings.map(([flag, help]) => [flag, help])),
    "",
    "Environment variables, where no flag says otherwise:",
    ...columns(settings.map(([, , variable, flag]) => [variable, flag])),
    "",
  ];
  return [
    `${command.summary}.`,
    "",
    `Usage: jsonplane ${usage(command)}${hasSettings ? " [flags]" : ""}`,
    "",
    ...(words.length === 0 ? [] : [...columns(words.map(({ name, help }) => [name, help])), ""]),
    ...(hasSettings ? flags : []),
  ].join("\n");
}

function usage({ name, argument, second }: Command): string {
  return [name, ...[argument, second].flatMap((each) => (each === undefined ? [] : [shown(each)]))].join(" ");
}

function shown({ name, isList, fallback }: CommandArgument): string {
  if (isList) return `[${name}…]`;
  return fallback === undefined ? name : `[${name}]`;
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
