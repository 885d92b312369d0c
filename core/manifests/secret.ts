// Turns a Secret, from a file or from the API server, into its decoded entries; refuses entries that are not text and `data`
// that is not base64. What an entry holds is never repeated in a message.

import type { Json, JsonObject } from "../config/types.ts";
import { isObject } from "../json/json-value.ts";
import { type FieldError, invalid, type ManifestProblem, problemOf, typeName, wrongType } from "./field-errors.ts";
import { completeMetadata, metadataErrors, secretNameErrors } from "./metadata.ts";
import type { Secret, UncheckedObject } from "./object.ts";

export type SecretResult =
  | { readonly ok: true; readonly secret: Secret }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const known = ["apiVersion", "kind", "metadata", "type", "data", "stringData", "immutable"];

export function readSecret(object: UncheckedObject): SecretResult {
  const { metadata, type } = object;
  const errors = [
    ...metadataErrors(metadata),
    ...Object.keys(object).flatMap((name) => (known.includes(name) ? [] : [unknownMember(name)])),
    ...(type === undefined || type === null || typeof type === "string"
      ? []
      : [wrongType(["type"], "string", typeName(type))]),
    ...entriesErrors("data", object["data"]),
    ...entriesErrors("stringData", object["stringData"]),
  ];
  if (isObject(metadata) && typeof metadata["name"] === "string") errors.push(...secretNameErrors(metadata["name"]));
  if (errors.length > 0 || !isObject(metadata)) return { ok: false, problems: errors.map(problemOf) };
  const data = new Map<string, Uint8Array>();
  for (const [name, text] of Object.entries(texts(object["data"]))) {
    data.set(name, Uint8Array.from(Buffer.from(text.replaceAll(/[\r\n]/g, ""), "base64")));
  }
  for (const [name, text] of Object.entries(texts(object["stringData"])))
    data.set(name, new TextEncoder().encode(text));
  return {
    ok: true,
    secret: {
      kind: "Secret",
      metadata: completeMetadata(metadata),
      type: typeof type === "string" && type !== "" ? type : "Opaque",
      ...(object["immutable"] === true && { immutable: true }),
      data,
    },
  };
}

function unknownMember(name: string): FieldError {
  return { path: [name], detail: `unknown field ${JSON.stringify(name)}`, blocking: false, whole: true };
}

function entriesErrors(field: "data" | "stringData", entries: Json | undefined): readonly FieldError[] {
  if (entries === undefined || entries === null) return [];
  if (!isObject(entries)) return [wrongType([field], "object", typeName(entries))];
  return Object.entries(entries).flatMap(([name, entry]) => entryErrors(field, name, entry));
}

function entryErrors(field: "data" | "stringData", name: string, entry: Json): readonly FieldError[] {
  const path = [field, name];
  if (!/^[-._a-zA-Z0-9]{1,253}$/.test(name)) {
    return [invalid([field], name, "an entry's name has letters, digits, - _ and .")];
  }
  if (entry === null) return [];
  if (typeof entry !== "string") return [wrongType(path, "string", typeName(entry))];
  if (field === "data" && !base64.test(entry.replaceAll(/[\r\n]/g, ""))) {
    return [invalid(path, undefined, "is not base64: plain text belongs into stringData")];
  }
  return [];
}

function texts(entries: Json | undefined): Readonly<Record<string, string>> {
  const members: JsonObject = isObject(entries) ? entries : {};
  return Object.fromEntries(
    Object.entries(members).map(([name, entry]) => [name, typeof entry === "string" ? entry : ""]),
  );
}
