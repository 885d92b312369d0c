// Turns the commands into what `--help` prints.

import { variableOf } from "../core/env/read-settings.ts";
import type { Command } from "./command.ts";

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
  const { argument } = command;
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
    ...(argument === undefined ? [] : [...columns([[argument.name, argument.help]]), ""]),
    ...(hasSettings ? flags : []),
  ].join("\n");
}

function usage({ name, argument }: Command): string {
  if (argument === undefined) return name;
  if (argument.isList) return `${name} [${argument.name}…]`;
  return argument.fallback === undefined ? `${name} ${argument.name}` : `${name} [${argument.name}]`;
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
