// Writes the three forms of the chart's values: what Helm reads, what it checks with, and what people read.

import { stringify } from "yaml";
import type { ValueSchema } from "./declare.ts";
import { chartValues } from "./values.ts";

const note = "Generated from tools/chart-values by `npm run generate`. Change that, not this file.";
const lineLength = 120;

/** By path below the repository's root. */
export function generateChartValues(): ReadonlyMap<string, string> {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", $comment: note, ...chartValues };
  return new Map([
    ["charts/jsonplane/values.schema.json", `${JSON.stringify(schema, null, 2)}\n`],
    ["charts/jsonplane/values.yaml", `# ${note}\n${membersYaml(chartValues, 0)}`],
    ["charts/jsonplane/templates/_needed.tpl", needed()],
    ["docs/values.md", page()],
  ]);
}

// -------------------------------------------------------------------------------------------------------------- _needed.tpl

/** Values that templates can't do without: the schema can't say so, or every file of values would have to be complete. */
function needed(): string {
  return `{{/* ${note} */}}\n{{- define "jsonplane.neededValues" -}}\n${neededBelow(chartValues, []).join(" ")}\n{{- end -}}\n`;
}

const mayBeNull = "dataplane.replicas";

function neededBelow({ properties = {} }: ValueSchema, path: readonly string[]): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const here = [...path, name];
    if (schema.properties !== undefined) return [here.join("."), ...neededBelow(schema, here)];
    return isNeeded(schema) && here.join(".") !== mayBeNull ? [here.join(".")] : [];
  });
}

function isNeeded({ default: fallback }: ValueSchema): boolean {
  if (Array.isArray(fallback)) return fallback.length > 0;
  return typeof fallback !== "object" && fallback !== "";
}

// ------------------------------------------------------------------------------------------------------------- values.yaml

function membersYaml({ properties = {} }: ValueSchema, depth: number): string {
  const members = Object.entries(properties).map(([name, schema]) => memberYaml(name, schema, depth));
  // Groups of the top stand apart.
  return members.join(depth === 0 ? "\n" : "");
}

function memberYaml(name: string, schema: ValueSchema, depth: number): string {
  const indent = "  ".repeat(depth);
  const comment = wrapped(schema.description ?? "", lineLength - indent.length - 2)
    .map((line) => `${indent}# ${line}\n`)
    .join("");
  if (schema.properties !== undefined) return `${comment}${indent}${name}:\n${membersYaml(schema, depth + 1)}`;
  const text = stringify({ [name]: schema.default }, { lineWidth: 0 }).trimEnd();
  return `${comment}${text.replace(/^/gm, indent)}\n`;
}

function wrapped(text: string, length: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= length) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

// --------------------------------------------------------------------------------------------------------------- docs/values.md

function page(): string {
  const sections = Object.entries(chartValues.properties ?? {}).map(([name, schema]) => {
    const rows = rowsOf(name, schema);
    return rows.length === 1 ? rows : [groupHead(name, schema), ...rows];
  });
  const single = sections.filter(([, ...more]) => more.length === 0).flat();
  const groups = sections.filter(([, ...more]) => more.length > 0).flatMap((rows) => [...rows, ""]);
  return `<!-- ${note} -->
# Values of the chart

\`helm install jsonplane charts/jsonplane -n jsonplane-system --create-namespace --set dataplane.replicas=3\`, or \`--values FILE\`. A
value that isn't listed here is refused: what is misspelt would be lost without a word.

${tableHead}
${single.join("\n")}

${groups.join("\n").trimEnd()}
`;
}

const tableHead = "| value | what | default |\n|---|---|---|";

function groupHead(name: string, { description }: ValueSchema): string {
  return `## ${name}\n\n${description ?? ""}\n\n${tableHead}`;
}

function rowsOf(path: string, schema: ValueSchema): readonly string[] {
  if (schema.properties === undefined) {
    return [`| \`${path}\` | ${cell(described(schema))} | ${fallbackOf(schema.default)} |`];
  }
  return Object.entries(schema.properties).flatMap(([name, member]) =>
    member.properties === undefined
      ? rowsOf(`${path}.${name}`, member)
      : [`| \`${path}.${name}\` | ${cell(member.description ?? "")} | |`, ...rowsOf(`${path}.${name}`, member)],
  );
}

function described({ description = "", enum: values, minimum, maximum }: ValueSchema): string {
  if (Array.isArray(values)) return `${description} One of ${values.map((value) => `\`${value}\``).join(", ")}.`;
  if (minimum === undefined || maximum === undefined) return description;
  return `${description} From ${Number(minimum).toLocaleString("en")} to ${Number(maximum).toLocaleString("en")}.`;
}

function fallbackOf(value: unknown): string {
  return value === "" ? "" : `\`${JSON.stringify(value)}\``;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
