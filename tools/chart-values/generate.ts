// Writes what is made of charts/jsonplane/values.yaml: the schema that Helm checks values with, the
// names that templates need, and the page that people read.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../read-crds.ts";
import { readValues, type ValueSchema } from "./read-values.ts";

const note = "Generated from charts/jsonplane/values.yaml by `npm run generate`. Change that, not this file.";

/** By path below the repository's root. */
export async function generateChartValues(): Promise<ReadonlyMap<string, string>> {
  const values = readValues(await readFile(join(root, "charts/jsonplane/values.yaml"), "utf8"));
  const schema = { $schema: "http://json-schema.org/draft-07/schema#", $comment: note, ...values };
  return new Map([
    ["charts/jsonplane/values.schema.json", `${JSON.stringify(schema, null, 2)}\n`],
    ["charts/jsonplane/templates/_needed.tpl", needed(values)],
    ["docs/values.md", page(values)],
  ]);
}

// --------------------------------------------------------------------------------------------
// _needed.tpl

/**
 * Values that templates can't do without: the schema can't say so, or every file of values would
 * have to be complete.
 */
function needed(values: ValueSchema): string {
  return `{{/* ${note} */}}\n{{- define "jsonplane.neededValues" -}}\n${neededBelow(values, []).join(" ")}\n{{- end -}}\n`;
}

/**
 * Null takes them away: for an autoscaler that is not the chart's, and for a cluster that chooses
 * users itself.
 */
const mayBeNull: ReadonlySet<string> = new Set(["dataplane.replicas", "redis.bundled.runAsUser"]);

function neededBelow({ properties = {} }: ValueSchema, path: readonly string[]): readonly string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const here = [...path, name];
    if (schema.properties !== undefined) return [here.join("."), ...neededBelow(schema, here)];
    return isNeeded(schema) && !mayBeNull.has(here.join(".")) ? [here.join(".")] : [];
  });
}

function isNeeded({ default: fallback }: ValueSchema): boolean {
  if (Array.isArray(fallback)) return fallback.length > 0;
  return typeof fallback !== "object" && fallback !== "";
}

// --------------------------------------------------------------------------------------------
// docs/values.md

function page(values: ValueSchema): string {
  const sections = Object.entries(values.properties ?? {}).map(([name, schema]) => {
    const rows = rowsOf(name, schema);
    return rows.length === 1 ? rows : [groupHead(name, schema), ...rows];
  });
  const single = sections.filter(([, ...more]) => more.length === 0).flat();
  const groups = sections.filter(([, ...more]) => more.length > 0).flatMap((rows) => [...rows, ""]);
  return `<!-- ${note} -->
# Values of the chart

\`helm install jsonplane charts/jsonplane -n jsonplane-system --create-namespace --set dataplane.replicas=3\`, or \`--values FILE\`. A
value that isn't listed here is refused: otherwise a misspelt value would be ignored silently.

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
