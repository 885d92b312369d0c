// What can be wrong with one field of a manifest, in the words of the Kubernetes API server, so
// that dev mode and a cluster say the same.

import type { Json } from "../config/types.ts";
import { pointerOf } from "../json/json-pointer.ts";

/** Keys and indices from the object's root to the place. */
export type ManifestPath = readonly (string | number)[];

/** `spec.hosts[0]`; the root is the empty text. */
export function fieldText(path: ManifestPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

export interface FieldError {
  readonly path: ManifestPath;
  /** Without the field's name in front. */
  readonly detail: string;
  /** What to write instead, after the detail; empty where that is not known. */
  readonly advice?: string;
  /**
   * True when CEL rules can't be applied to the object any more; the API server skips them then.
   */
  readonly blocking: boolean;
  /** True when `detail` names the field itself. */
  readonly whole?: boolean;
}

/** One thing that is wrong with a manifest. */
export interface ManifestProblem {
  /** RFC 6901 pointer to the field in question, which may be missing from the object. */
  readonly pointer: string;
  /** Without the field's name, and with what to write instead: `Required value`. */
  readonly detail: string;
  /** With the field's name, as the API server says it: `spec.projectRef: Required value`. */
  readonly message: string;
}

export function problemOf({ path, detail, advice = "", whole = path.length === 0 }: FieldError): ManifestProblem {
  return {
    pointer: pointerOf(path),
    detail: `${detail}${advice}`,
    message: whole ? detail : `${fieldText(path)}: ${detail}`,
  };
}

export function required(path: ManifestPath, why?: string): FieldError {
  return { path, detail: why === undefined ? "Required value" : `Required value: ${why}`, blocking: true };
}

export function unsupported(path: ManifestPath, value: Json, supported: readonly Json[]): FieldError {
  const values = supported.map((each) => JSON.stringify(each)).join(", ");
  return { path, detail: `Unsupported value: ${shown(value)}: supported values: ${values}`, blocking: true };
}

export function tooLong(path: ManifestPath, maxBytes: number): FieldError {
  return { path, detail: `Too long: may not be more than ${maxBytes} bytes`, blocking: true };
}

export function tooMany(path: ManifestPath, count: number, max: number): FieldError {
  return { path, detail: `Too many: ${count}: must have at most ${max} items`, blocking: true };
}

export function wrongType(path: ManifestPath, expected: string, actual: string): FieldError {
  const detail = `Invalid value: "${actual}": ${fieldText(path)} in body must be of type ${expected}: "${actual}"`;
  return { path, detail, blocking: true };
}

export function wrongFormat(path: ManifestPath, format: string, value: string): FieldError {
  const text = JSON.stringify(value);
  const detail = `Invalid value: ${text}: ${fieldText(path)} in body must be of type ${format}: ${text}`;
  return { path, detail, blocking: true };
}

/** `should` completes "… in body should …". */
export function outOfBounds(path: ManifestPath, value: Json, should: string): FieldError {
  const detail = `Invalid value: ${shown(value)}: ${fieldText(path)} in body should ${should}`;
  return { path, detail, blocking: false };
}

/** `value` undefined = not worth repeating, as for objects and lists. */
export function invalid(path: ManifestPath, value: Json | undefined, message: string): FieldError {
  const start = value === undefined ? "Invalid value" : `Invalid value: ${shown(value)}`;
  return { path, detail: `${start}: ${message}`, blocking: false };
}

export function forbidden(path: ManifestPath, message: string): FieldError {
  return { path, detail: `Forbidden: ${message}`, blocking: false };
}

export function duplicate(path: ManifestPath, value: Json): FieldError {
  return { path, detail: `Duplicate value: ${shown(value)}`, blocking: false };
}

export function typeName(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (Number.isInteger(value)) return "integer";
  return typeof value;
}

function shown(value: Json): string {
  return JSON.stringify(value);
}
