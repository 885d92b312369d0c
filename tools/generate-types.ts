// Turns the CRDs of the chart into core/manifests/generated/: per kind its TypeScript type
// as it is after defaulting, and the schema that manifests are checked with.
import { compile } from "json-schema-to-typescript";
import { type CrdNode as Node, readCrds } from "./read-crds.ts";

const banner = "// Generated from charts/jsonplane/files/crds/ by `npm run generate`. Change the CRD, not this file.";

const lineWidth = 100;

/** Every generated file, by its path below the repository's root. */
export async function generateTypes(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const { kind, singular, schema } of await readCrds()) {
    const text = `${banner}
import type { Json, JsonObject } from "../../config/types.ts";
import type { Condition, ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

${await typesOf(kind, schema)}
export const ${kind[0]?.toLowerCase()}${kind.slice(1)}Schema: SchemaNode = ${printed(withoutStatus(schema))};
`;
    files.set(`core/manifests/generated/${singular}.generated.ts`, withoutUnusedImports(text));
  }
  return files;
}

/**
 * Interfaces of one kind, with every property read-only and those that have a default always
 * present.
 */
async function typesOf(kind: string, schema: Node): Promise<string> {
  const { properties = {} } = schema;
  const spec = titled(properties["spec"], `${kind}Spec`);
  const { conditions: _, ...others } = properties["status"]?.properties ?? {};
  const status = titled({ ...properties["status"], properties: others }, `${kind}Status`);
  const whole = {
    title: kind,
    type: "object",
    required: ["apiVersion", "kind", "metadata", "spec"],
    properties: {
      apiVersion: { const: "jsonplane.io/v1alpha1" },
      kind: { const: kind },
      metadata: { tsType: "ObjectMeta" },
      spec,
      status: { ...status, properties: { ...status.properties, conditions: { tsType: "Condition[]" } } },
    },
  };
  const text = await compile(whole as Parameters<typeof compile>[0], kind, {
    additionalProperties: false,
    bannerComment: "",
    ignoreMinAndMaxItems: true,
    style: { printWidth: 120 },
  });
  return text.replaceAll(/^( +)(\w+\??: )/gm, "$1readonly $2").replaceAll(/(\w+)\[\]/g, "readonly $1[]");
}

/** As JSON; what fits into a line is one. */
function printed(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= lineWidth) return line;
  const members = Object.entries(value).map(([name, member]) => {
    const text = printed(member, `${indent}  `);
    return `${indent}  ${Array.isArray(value) ? text : `${JSON.stringify(name)}: ${text}`}`;
  });
  const [begin, end] = Array.isArray(value) ? "[]" : "{}";
  return `${begin}\n${members.join(",\n")}\n${indent}${end}`;
}

function titled(node: Node | undefined, title: string): { readonly title: string; readonly properties?: object } {
  if (node === undefined) throw new Error(`${title} is missing`);
  return { ...forTypes(node), title };
}

/** A schema node as the type generator wants it; descriptions stay in the CRD. */
function forTypes(node: Node): object {
  if (node["x-kubernetes-preserve-unknown-fields"] === true) {
    return { tsType: node.type === "object" ? "JsonObject" : "Json" };
  }
  const properties = Object.entries(node.properties ?? {});
  const defaulted = properties.filter(([, property]) => property.default !== undefined).map(([name]) => name);
  return {
    ...(node.title === undefined ? {} : { title: node.title }),
    type: node.type,
    ...(node.enum === undefined ? {} : { enum: node.enum }),
    ...(node.items === undefined ? {} : { items: forTypes(node.items) }),
    ...(properties.length === 0
      ? {}
      : { properties: Object.fromEntries(properties.map(([name, property]) => [name, forTypes(property)])) }),
    required: [...(node.required ?? []), ...defaulted],
  };
}

/**
 * What checks a manifest: no texts for people, and no status, which nobody writes into a manifest.
 */
function withoutStatus(schema: Node): Node {
  const { status: _, ...properties } = schema.properties ?? {};
  return withoutDescriptions({ ...schema, properties });
}

function withoutDescriptions(node: Node): Node {
  const { description: _, ...rest } = node;
  if (rest.items !== undefined) rest.items = withoutDescriptions(rest.items);
  if (rest.additionalProperties !== undefined)
    rest.additionalProperties = withoutDescriptions(rest.additionalProperties);
  if (rest.properties !== undefined) {
    rest.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, property]) => [name, withoutDescriptions(property)]),
    );
  }
  return rest;
}

function withoutUnusedImports(text: string): string {
  const used = ["Json", "JsonObject"].filter((name) => new RegExp(`: ${name};`).test(text));
  const line = used.length === 0 ? "" : `import type { ${used.join(", ")} } from "../../config/types.ts";\n`;
  return text.replace(/import type \{ Json, JsonObject \}.*\n/, line);
}
