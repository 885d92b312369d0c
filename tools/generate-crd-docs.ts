// Turns the CRDs of the chart into docs/reference/custom-resources.md: per kind an example and
// tables of its fields, and once the fields of the status that kinds share.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { servedVersions } from "../core/manifests/object.ts";
import { type Crd, type CrdNode, readCrds, root } from "./read-crds.ts";

const examples = "examples/bookshop.yaml";

/** One file, by its path below the repository's root. */
export async function generateCrdDocs(): Promise<ReadonlyMap<string, string>> {
  const documents = (await readFile(join(root, examples), "utf8")).split(/^---\n/m);
  const crds = await readCrds();
  const shared = sharedStatus(crds);
  const kinds = crds.map((crd) => kindText(crd, documents, shared));
  const text = [head(crds), ...kinds, statusText(shared)].join("\n");
  return new Map([["docs/reference/custom-resources.md", text]]);
}

function head(crds: readonly Crd[]): string {
  const rows = crds.map((crd) => {
    const names = [crd.plural, ...crd.shortNames].map((name) => `\`${name}\``).join(", ");
    return `| [${crd.kind}](#${crd.kind.toLowerCase()}) | ${names} | ${cell(firstSentence(crd.schema.description))} |`;
  });
  const versions = servedVersions.map((each) => `\`${each}\``).join(" and ");
  return `<!-- Generated from charts/jsonplane/files/crds/ by \`npm run generate\`. Change the CRD, not this file. -->
# Custom resources

Group \`jsonplane.io\`, versions ${versions}, which are [one and the same](../operations.md#api-versions).
All kinds are namespaced and belong to the category \`jsonplane\`:
\`kubectl get jsonplane\` lists them all; \`kubectl explain jproj.spec --recursive\` prints the same fields as this page.

| Kind | kubectl get | What it is |
|---|---|---|
${rows.join("\n")}

- A \`metadata.name\` has up to 63 lower-case letters, digits and \`-\`.
- References stay in the namespace.
- Objects may be applied in any order.
- Durations are written like \`90s\`, \`5m\` or \`12h30m\`.
- \`kubectl apply\`, \`jsonplane validate\` and \`jsonplane dev\` refuse unknown fields, and say for each wrong value what to write.
- All kinds have the fields of [the shared status](#status-of-every-kind), too.
`;
}

function firstSentence(text = ""): string {
  return text.replace(/\. .*$/s, ".");
}

function kindText({ kind, schema }: Crd, documents: readonly string[], shared: ReadonlySet<string>): string {
  const example = documents.find((document) => new RegExp(`^kind: ${kind}$`, "m").test(document));
  const { spec } = schema.properties ?? {};
  if (example === undefined || spec === undefined) throw new Error(`${kind} lacks an example or a spec`);
  return `## ${kind}

${cell(schema.description)}

\`\`\`yaml
${example.trim()}
\`\`\`

| Field | Type | Default | Meaning |
|---|---|---|---|
${fieldRows(spec, "spec").map(withDefault).join("\n")}

| Status | Type | Meaning |
|---|---|---|
${statusRows(schema)
  .filter((row) => !shared.has(row))
  .join("\n")}
`;
}

function statusText(shared: ReadonlySet<string>): string {
  return `## Status of every kind

| Status | Type | Meaning |
|---|---|---|
${[...shared].join("\n")}
`;
}

/** Rows that more than one kind has. */
function sharedStatus(crds: readonly Crd[]): ReadonlySet<string> {
  const rows = crds.flatMap(({ schema }) => statusRows(schema));
  return new Set(rows.filter((row, at) => rows.indexOf(row) !== at));
}

/** The limits in force have the fields of `spec.limits`, which the page shows already. */
function statusRows({ properties }: CrdNode): readonly string[] {
  const rows = fieldRows(properties?.["status"] ?? {}, "status");
  return rows.filter(({ fieldPath }) => !fieldPath.startsWith("`status.effectiveLimits.")).map(withoutDefault);
}

interface FieldRow {
  readonly fieldPath: string;
  readonly type: string;
  readonly value: string;
  readonly meaning: string;
}

/** A row for every field below `node`, containers before what they hold. */
function fieldRows(node: CrdNode, path: string): readonly FieldRow[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const fieldPath = `${path}.${name}`;
    // `kubectl explain` shows no defaults, so the description ends with it; the table has a column
    // for it.
    const [meaning = "", described = ""] = (field.description ?? "").split(/ ?Default: (?=[^ ])/);
    const value = node.required?.includes(name) === true ? "**required**" : defaultText(field.default, described);
    const row = { fieldPath: code(fieldPath), type: typeText(field), value, meaning: cell(meaning) };
    const inside =
      field.items?.properties === undefined ? fieldRows(field, fieldPath) : fieldRows(field.items, `${fieldPath}[]`);
    return [row, ...inside];
  });
}

/**
 * The default of the schema; without one, the description's, such as of a default that depends on
 * another field.
 */
function defaultText(value: unknown, described: string): string {
  if (value === undefined) return cell(described.replace(/\.$/, ""));
  return JSON.stringify(value) === "{}" ? "" : code(JSON.stringify(value));
}

function withDefault({ fieldPath, type, value, meaning }: FieldRow): string {
  return `| ${fieldPath} | ${type} | ${value} | ${meaning} |`;
}

function withoutDefault({ fieldPath, type, meaning }: FieldRow): string {
  return `| ${fieldPath} | ${type} | ${meaning} |`;
}

function typeText(node: CrdNode): string {
  if (node.enum !== undefined) return node.enum.map((value) => code(String(value))).join(" ");
  const bounds = boundsText(node);
  const name = node.format === "date-time" ? "time" : (node.type ?? "any JSON");
  const items = node.items === undefined ? "" : ` of ${node.items.type ?? "any JSON"}`;
  return `${name}${items}${bounds === "" ? "" : `, ${bounds}`}`;
}

function boundsText(node: CrdNode): string {
  const { minimum, maximum, maxItems, maxLength } = node;
  if (minimum !== undefined && maximum !== undefined) return `${grouped(minimum)} to ${grouped(maximum)}`;
  if (maxItems !== undefined) return `at most ${maxItems}`;
  if (maxLength !== undefined && node.format === undefined) return `at most ${grouped(maxLength)} characters`;
  return "";
}

function grouped(value: number): string {
  return value.toLocaleString("en-US");
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** Text of a table's cell. */
function cell(text = ""): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
