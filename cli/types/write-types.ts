// Writes what a project's clients need to know as a file: TypeScript types, or JSON Schemas with
// the same names.

import type { DescribedApi, DescribedResource } from "./describe-api.ts";
import type { Definition } from "./named-schemas.ts";
import { comment, type Member, never, objectText, plain, type Type, textOf, unknown } from "./type.ts";
import { type Definitions, describedBy, onlyObjects, typeOfSchema } from "./type-of-schema.ts";

const heading = "Made by `jsonplane types`: change the manifests, not this file.";

export function jsonSchemaOf({ definitions }: DescribedApi): string {
  const $defs = Object.fromEntries([...definitions].map(([name, { schema }]) => [name, schema]));
  const document = { $schema: "https://json-schema.org/draft/2020-12/schema", $comment: heading, $defs };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

export function typeScriptOf(api: DescribedApi): string {
  const { definitions } = api;
  const found: Definitions = {
    schemaOf: (reference) => definitions.get(nameIn(reference))?.schema,
    typeOf: (reference) => plain(nameIn(reference)),
  };
  const objects = new Set(
    api.resources.flatMap(({ object, create, update, patch }) => [object, create, update, patch]),
  );
  const declared = [...definitions].map(([name, definition]) =>
    declaration(name, definition, typeOfDefinition(definition, found, objects.has(name))),
  );
  return [`// ${heading}\n`, ...declared, apiText(api)].join("\n");
}

function typeOfDefinition(
  { schema, typed = schema, partialOf }: Definition,
  definitions: Definitions,
  isObject: boolean,
): Type {
  if (partialOf !== undefined) return plain(`Partial<${nameIn(partialOf)}>`);
  return isObject ? typeOfSchema(typed, definitions, onlyObjects) : typeOfSchema(typed, definitions);
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function declaration(name: string, { schema }: Definition, type: Type): string {
  const lines = comment(describedBy(schema), "");
  const text =
    type.kind === "object" ? `export interface ${name} ${objectText(type)}` : `export type ${name} = ${textOf(type)};`;
  return [...lines, text.replace(/ = \n/, " =\n"), ""].join("\n");
}

function apiText({ resources, rootKeys }: DescribedApi): string {
  const members = [
    member("resources", objectOf(resources.map((resource) => member(resource.name, typeOfResource(resource))))),
    member("rootKeys", objectOf(rootKeys.map((key) => member(key, unknown)))),
    member("problems", plain("ProblemCode")),
  ];
  return `/** What a client of the project has to know. */\nexport interface Api ${objectText({ kind: "object", members })}\n`;
}

function typeOfResource({ name: _, ...types }: DescribedResource): Type {
  return objectOf(Object.entries(types).map(([part, name]) => member(part, name === undefined ? never : plain(name))));
}

function objectOf(members: readonly Member[]): Type {
  return { kind: "object", members };
}

function member(name: string, type: Type): Member {
  return { name, type, isOptional: false };
}

export type TypesFormat = "typescript" | "json-schema";

export function typesText(api: DescribedApi, format: TypesFormat): string {
  return format === "typescript" ? typeScriptOf(api) : jsonSchemaOf(api);
}
