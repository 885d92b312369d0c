// The part of a CRD's structural schema that manifests are checked with.
import type { Json } from "../config/types.ts";
import { typeName } from "./field-errors.ts";

/** A CEL rule: false refuses the value with `message` at `fieldPath`. */
export interface Rule {
  readonly rule: string;
  readonly message?: string;
  /** JSONPath below the node that carries the rule, such as `.spec.key`. */
  readonly fieldPath?: string;
  readonly reason?: "FieldValueInvalid" | "FieldValueForbidden" | "FieldValueRequired" | "FieldValueDuplicate";
}

export interface SchemaNode {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly additionalProperties?: SchemaNode;
  readonly items?: SchemaNode;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-list-type"?: "atomic" | "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly Rule[];
}

/** The schema of one member of an object; undefined = the schema says nothing about it. */
export function nodeOf(schema: SchemaNode, name: string): SchemaNode | undefined {
  return ownProperty(schema.properties, name) ?? schema.additionalProperties;
}

/** Empty = any. */
export function expectedTypes(schema: SchemaNode): readonly string[] {
  if (schema["x-kubernetes-int-or-string"] === true) return ["integer", "string"];
  return schema.type === undefined ? [] : [schema.type];
}

export function hasType(schema: SchemaNode, value: Json): boolean {
  const expected = expectedTypes(schema);
  const actual = typeName(value);
  const fits = (type: string): boolean => type === actual || (type === "number" && actual === "integer");
  return expected.length === 0 || expected.some(fits);
}

/** `properties` inherits members such as `constructor`, which are no properties of the schema. */
function ownProperty(properties: SchemaNode["properties"], name: string): SchemaNode | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
