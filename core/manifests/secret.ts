// Turns a Secret, from a file or from the API server, into its decoded entries; refuses entries
// that are not text and `data` that is not base64. Messages never quote an entry.

import type { Json, JsonObject } from "../config/types.ts";
import { isObject } from "../json/json-value.ts";
import {
  type FieldError,
  invalid,
  type ManifestProblem,
  problemOf,
  required,
  tooLong,
  typeName,
  wrongType,
} from "./field-errors.ts";
import { completeMetadata, metadataErrors, secretNameErrors } from "./metadata.ts";
import type { Secret, UncheckedObject } from "./object.ts";

export type SecretResult =
  | { readonly ok: true; readonly secret: Secret }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const known = ["apiVersion", "kind", "metadata", "type", "data", "stringData", "immutable"];

export function readSecret(object: UncheckedObject): SecretResult {
  const { metadata } = object;
  const errors = [
    ...metadataErrors(metadata),
    ...Object.keys(object).flatMap((name) => (known.includes(name) ? [] : [unknownMember(name)])),
    ...typeErrors(object, "type", "string"),
    ...typeErrors(object, "immutable", "boolean"),
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
  const type = typeof object["type"] === "string" && object["type"] !== "" ? object["type"] : "Opaque";
  const unfit = contentErrors(type, data);
  if (unfit.length > 0) return { ok: false, problems: unfit.map(problemOf) };
  return {
    ok: true,
    secret: {
      kind: "Secret",
      metadata: completeMetadata(metadata),
      type,
      ...(object["immutable"] === true && { immutable: true }),
      data,
    },
  };
}

/** The entries that the API server wants in a Secret of a type: one of each list. */
const wantedEntries: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  ["kubernetes.io/basic-auth", [["username", "password"]]],
  ["kubernetes.io/ssh-auth", [["ssh-privatekey"]]],
  ["kubernetes.io/tls", [["tls.crt"], ["tls.key"]]],
  ["kubernetes.io/dockercfg", [[".dockercfg"]]],
  ["kubernetes.io/dockerconfigjson", [[".dockerconfigjson"]]],
]);
/** Of all values. */
const maxDataBytes = 1024 * 1024;

function contentErrors(type: string, data: Secret["data"]): readonly FieldError[] {
  const absent = (wantedEntries.get(type) ?? []).filter((names) => !names.some((name) => data.has(name)));
  const errors = absent.map((names) => required(["data"], `a Secret of type ${type} has ${names.join(" or ")}`));
  const bytes = Array.from(data.values()).reduce((sum, { length }) => sum + length, 0);
  return bytes > maxDataBytes ? [...errors, tooLong(["data"], maxDataBytes)] : errors;
}

function typeErrors(object: UncheckedObject, name: string, expected: "string" | "boolean"): readonly FieldError[] {
  const value = object[name] ?? null;
  return value === null || typeof value === expected ? [] : [wrongType([name], expected, typeName(value))];
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
  if (!/^(?!\.$|\.\.)[-._a-zA-Z0-9]{1,253}$/.test(name)) {
    return [invalid([field], name, "an entry's name has letters, digits, - _ and ., and doesn't begin with two dots")];
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

/** The text of an entry, or undefined when it is absent or empty. */
export function entryText(secret: Secret | undefined, entry: string): string | undefined {
  const bytes = secret?.data.get(entry);
  return bytes === undefined || bytes.length === 0 ? undefined : Buffer.from(bytes).toString("utf8");
}
