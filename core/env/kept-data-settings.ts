// Settings of the command that lists and deletes kept data.

import { durationSeconds } from "../config/duration.ts";
import { InvalidSetting, type Setting } from "./read-settings.ts";
import { labelPattern, readSwitch } from "./settings.ts";

export const project = {
  flag: "project",
  placeholder: "NAME",
  help: "Only data of Projects of this name",
  read: readProjectName,
} as const satisfies Setting<string>;

export const output = {
  flag: "output",
  placeholder: "FORMAT",
  help: "table, or json: one object a line",
  fallback: "table",
  read: readOutput,
} as const satisfies Setting<OutputFormat>;

export const deleteData = {
  flag: "delete",
  placeholder: "",
  isSwitch: true,
  help: "Have the operator delete the data that are named, or with --all and --yes all that are listed",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const all = {
  flag: "all",
  placeholder: "",
  isSwitch: true,
  help: "With --delete: everything that is listed",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const yes = {
  flag: "yes",
  placeholder: "",
  isSwitch: true,
  help: "With --delete --all: do it, and don't only say what would be deleted",
  fallback: "false",
  read: readSwitch,
} as const satisfies Setting<boolean>;

export const timeout = {
  flag: "timeout",
  placeholder: "DURATION",
  help: "How long to wait until what was ordered is done, such as 2m; the order stands all the same",
  fallback: "2m",
  read: readTimeoutSeconds,
} as const satisfies Setting<number>;

const maxTimeoutSeconds = 24 * 3_600;

function readTimeoutSeconds(text: string): number {
  const seconds = durationSeconds(text) ?? 0;
  if (seconds >= 1 && seconds <= maxTimeoutSeconds) return seconds;
  throw new InvalidSetting(`must be a duration from 1s to 24h, such as 2m, not ${JSON.stringify(text)}`);
}

export type OutputFormat = "table" | "json";

function readOutput(text: string): OutputFormat {
  if (text === "table" || text === "json") return text;
  throw new InvalidSetting(`must be table or json, not ${JSON.stringify(text)}`);
}

function readProjectName(text: string): string {
  if (labelPattern.test(text)) return text;
  throw new InvalidSetting(`must be the name of a Project, such as shop, not ${JSON.stringify(text)}`);
}
