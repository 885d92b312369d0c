// Turns crds/*.yaml into docs/reference/custom-resources.md: per kind an example, a table of its fields, and its rules.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Rule } from "../core/manifests/schema-node.ts";
import { type Crd, type CrdNode, readCrds, root } from "./read-crds.ts";

const examples = "examples/bookshop.yaml";

/** One file, by its path below the repository's root. */
export async function generateCrdDocs(): Promise<ReadonlyMap<string, string>> {
  const documents = (await readFile(join(root, examples), "utf8")).split(/^---\n/m);
  const crds = await readCrds();
  const text = [head(crds), ...crds.map((crd) => kindText(crd, documents))].join("\n");
  return new Map([["docs/reference/custom-resources.md", text]]);
}

function head(crds: readonly Crd[]): string {
  const rows = crds.map((crd) => {
    const names = [crd.plural, ...crd.shortNames].map((name) => `\`${name}\``).join(", ");
    return `| [${crd.kind}](#${crd.kind.toLowerCase()}) | ${names} | ${cell(crd.schema.description)} |`;
  });
  return `<!-- Generated from crds/ by \`npm run generate\`. Change the CRD, not this file. -->
# Custom resources

Group \`jsonplane.io\`, version \`v1alpha1\`. All kinds are namespaced and belong to the category \`jsonplane\`:
\`kubectl get jsonplane\` lists them all; \`kubectl explain jproj.spec --recursive\` prints the same fields as this page.

| Kind | kubectl get | What it is |
|---|---|---|
${rows.join("\n")}

- A \`metadata.name\` has up to 63 lower-case letters, digits and \`-\`.
- References stay in the namespace.
- Objects may be applied in any order.
- Durations are written like \`90s\`, \`5m\` or \`12h30m\`.
- \`kubectl apply\`, \`jsonplane validate\` and \`jsonplane dev\` refuse unknown fields.
`;
}

function kindText({ kind, schema }: Crd, documents: readonly string[]): string {
  const example = documents.find((document) => new RegExp(`^kind: ${kind}$`, "m").test(document));
  const { spec, status } = schema.properties ?? {};
  if (example === undefined || spec === undefined || status === undefined) {
    throw new Error(`${kind} lacks an example, a spec or a status`);
  }
  const rules = rulesOf(schema, "").map(({ field, message }) => `- ${code(field)}: ${cell(message)}`);
  return `## ${kind}

${cell(schema.description)}

\`\`\`yaml
${example.trim()}
\`\`\`

| Field | Type | Default | Meaning |
|---|---|---|---|
${fieldRows(spec, "spec").map(withDefault).join("\n")}

Values that are refused, with their messages:

${rules.join("\n")}

<details><summary>Status</summary>

| Field | Type | Meaning |
|---|---|---|
${fieldRows(status, "status").map(withoutDefault).join("\n")}

</details>
`;
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
    // `kubectl explain` shows no defaults, so the description ends with it; the table has a column for it.
    const [meaning = "", described = ""] = (field.description ?? "").split(/ ?Default: (?=[^ ])/);
    const value = node.required?.includes(name) === true ? "**required**" : defaultText(field.default, described);
    const row = { fieldPath: code(fieldPath), type: typeText(field), value, meaning: cell(meaning) };
    const inside =
      field.items?.properties === undefined ? fieldRows(field, fieldPath) : fieldRows(field.items, `${fieldPath}[]`);
    return [row, ...inside];
  });
}

/** The default of the schema; without one, the description's, such as of a default that depends on another field. */
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

interface RuleText {
  readonly field: string;
  readonly message: string;
}

function rulesOf(node: CrdNode, path: string): readonly RuleText[] {
  const own = (node["x-kubernetes-validations"] ?? []).map((rule) => ruleText(rule, path));
  const children = Object.entries(node.properties ?? {}).filter(([name]) => name !== "status");
  const inside = children.flatMap(([name, child]) => rulesOf(child, path === "" ? name : `${path}.${name}`));
  return [...own, ...inside, ...(node.items === undefined ? [] : rulesOf(node.items, `${path}[]`))];
}

function ruleText({ fieldPath = "", message = "" }: Rule, path: string): RuleText {
  return { field: path === "" ? fieldPath.slice(1) : `${path}${fieldPath}`, message };
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

/** Text of a table's cell. */
function cell(text = ""): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
