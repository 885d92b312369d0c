// What a command is: its name, argument and settings, and how it runs. Its modules are imported
// only when it runs, so that `--help` and a typing error cost nothing.

import {
  readSettings,
  type Setting,
  type SettingSources,
  type SettingTable,
  type SettingValues,
} from "../core/env/read-settings.ts";

export interface CommandArgument {
  /** As the help shows it, `DIR`. */
  readonly name: string;
  readonly help: string;
  /** Any number of words, none too; they are handed over with a space between. */
  readonly isList?: true;
  /** What stands for a word that is missing; without it, the word is needed. */
  readonly fallback?: string;
}

/** Settings as a command gets them: those that it can't run without are there. */
export type CommandSettings<T extends SettingTable, Needed extends keyof T> = SettingValues<T> & {
  readonly [name in Needed]: NonNullable<SettingValues<T>[name]>;
};

export interface CommandDefinition<T extends SettingTable, Needed extends keyof T> {
  readonly name: string;
  /** One line. */
  readonly summary: string;
  readonly argument?: CommandArgument;
  /** A second word. */
  readonly second?: CommandArgument;
  readonly settings: T;
  /** What it can't run without and has no default for. */
  readonly needs?: readonly Needed[];
  /** Resolves with the exit code. Each word is empty for a command that takes none. */
  readonly run: (settings: CommandSettings<T, Needed>, argument: string, second: string) => Promise<number>;
}

export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly argument?: CommandArgument;
  readonly second?: CommandArgument;
  readonly settings: SettingTable;
  /** Either what is wrong with the settings, or how to run with them. */
  prepare(
    sources: SettingSources,
    argument: string,
    second: string,
  ): { readonly faults: readonly string[] } | { readonly run: () => Promise<number> };
}

export function defineCommand<T extends SettingTable, const Needed extends keyof T = never>(
  definition: CommandDefinition<T, Needed>,
): Command {
  const { name, summary, settings, argument, second } = definition;
  return {
    name,
    summary,
    settings,
    ...(argument !== undefined && { argument }),
    ...(second !== undefined && { second }),
    prepare(sources, ...words) {
      const read = readSettings(settings, sources);
      if (!read.ok) return { faults: read.faults };
      const faults = (definition.needs ?? []).filter((key) => read.values[key] === undefined).map(missing);
      if (faults.length > 0) return { faults };
      return { run: () => definition.run(read.values as CommandSettings<T, Needed>, ...words) };
    },
  };

  function missing(key: keyof T): string {
    const { flag, placeholder } = settings[key] as Setting<unknown>;
    return `${name} needs --${flag} ${placeholder}`;
  }
}
