// Turns a file with values of several resources and root keys, such as json-server's db.json, into
// commands that divide it. Its owner runs them: its ids are no ids here, and only the owner knows
// what refers to them.

import { dirname, join } from "node:path";
import { shellWord } from "../../shell-words.ts";
import { listed } from "../report/listed.ts";

export interface SeedValue {
  readonly name: string;
  /** Undefined where no manifest declares the name. */
  readonly use: "resource" | "root key" | undefined;
}

/** Of names that no manifest declares. */
const maxListed = 10;

/** A sentence, or lines. `values` is not empty. */
export function howToSplit(path: string, values: readonly SeedValue[]): string {
  const commands = values.flatMap(({ name, use }) => (use === undefined ? [] : [splitCommand(path, name, use)]));
  const missing = values.flatMap(({ name, use }) => (use === undefined ? [name] : []));
  const declare = `No manifest declares ${listed(missing, maxListed)}: write an ApiResource for an array of objects, a RootKey for any other value.`;
  if (commands.length === 0) return declare;
  return [
    "Each of its values needs a file of its own:",
    ...commands.map((command) => `  ${command}`),
    "Objects get new ids. The former one is kept in the field number, which the schema must have, and references still lead to that.",
    ...(missing.length === 0 ? [] : [declare]),
    `Then remove ${path}.`,
  ].join("\n");
}

function splitCommand(path: string, name: string, use: SeedValue["use"]): string {
  const member = /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `.[${JSON.stringify(name)}]`;
  const filter = use === "root key" ? member : `[${member}[] | .number = .id | del(.id)]`;
  return `jq ${shellWord(filter)} ${shellWord(path)} > ${shellWord(join(dirname(path), `${name}.json`))}`;
}
