// Settings of the command that lists and deletes kept data.

import { dnsLabel } from "../manifests/metadata.ts";
import type { Setting } from "./read-settings.ts";
import { durationBetween, matching, oneOf, switchSetting } from "./setting-readers.ts";

export type OutputFormat = "table" | "json";

export const project = {
  flag: "project",
  placeholder: "NAME",
  help: "Only data of Projects of this name",
  read: matching(dnsLabel, "the name of a Project, such as shop"),
} as const satisfies Setting<string>;

export const output = {
  flag: "output",
  placeholder: "FORMAT",
  help: "table, or json: one object a line",
  fallback: "table",
  read: oneOf(["table", "json"]),
} as const satisfies Setting<OutputFormat>;

export const deleteData = switchSetting(
  "delete",
  "Have the operator delete the data that are named, or with --all and --yes all that are listed",
);

export const all = switchSetting("all", "With --delete: everything that is listed");

export const yes = switchSetting("yes", "With --delete --all: do it, and don't only say what would be deleted");

export const timeout = {
  flag: "timeout",
  placeholder: "DURATION",
  help: "How long to wait until what was ordered is done, such as 2m; the order stands all the same",
  fallback: "2m",
  read: durationBetween(1, 24 * 3_600, "from 1s to 24h, such as 2m"),
} as const satisfies Setting<number>;
