// Reads the two patch formats and applies them to a stored text. Refuses other media types,
// malformed patches, and patches that do not match the text. Whether the result may be stored is
// checked elsewhere.

import type { IncomingMessage } from "node:http";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { applyJsonPatch } from "../../core/json/json-patch.ts";
import { mergePatch } from "../../core/json/merge-patch.ts";
import { PatchRefusal } from "../../core/json/patch-refusal.ts";
import { type Operation, readJsonPatch } from "../../core/json/read-json-patch.ts";
import { maxDepth } from "../store/ports/documents.ts";

/** `json` = a merge patch without the name. An array is refused: it is probably a JSON Patch. */
type PatchFormat = "merge-patch" | "json-patch" | "json";

export type Patch =
  | { readonly format: "merge-patch"; readonly text: string }
  | { readonly format: "json-patch"; readonly operations: readonly Operation[] };

/** Value of an Accept-Patch header (RFC 5789 §3.1). */
export const acceptPatch = "application/merge-patch+json, application/json-patch+json, application/json";

/** The format that Content-Type names; undefined unless it is a PATCH. */
export function patchFormatOf({
  method,
  headers,
}: Pick<IncomingMessage, "method" | "headers">): PatchFormat | undefined {
  if (method !== "PATCH") return undefined;
  switch (headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase()) {
    case "application/merge-patch+json":
      return "merge-patch";
    case "application/json-patch+json":
      return "json-patch";
    case "application/json":
      return "json";
    default:
      throw unsupported(`Send a PATCH with one of these content types: ${acceptPatch}`);
  }
}

function unsupported(message: string): Problem {
  return new Problem("unsupported_media_type", message, { headers: { "Accept-Patch": acceptPatch } });
}

/** Nesting of a body: the values of a JSON Patch are inside an operation in an array. */
export function bodyDepth(format: PatchFormat): number {
  return format === "json-patch" ? maxDepth + 2 : maxDepth;
}

/** Throws Problem `invalid_patch`, `patch_too_large` or `unsupported_media_type`. */
export function readPatch(format: PatchFormat, { text }: CanonicalJson): Patch {
  if (format === "json-patch") return { format, operations: refusing(() => readJsonPatch(text)) };
  if (format === "json" && text.startsWith("["))
    throw unsupported(
      "The body is an array: send a JSON Patch as application/json-patch+json, or a value as application/merge-patch+json",
    );
  return { format: "merge-patch", text };
}

/** Throws Problem `patch_conflict`, `increment_out_of_bounds` or `patch_too_large`. */
export function patched(patch: Patch, text: string): string {
  return refusing(() =>
    patch.format === "merge-patch" ? mergePatch(text, patch.text) : applyJsonPatch(text, patch.operations),
  );
}

function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof PatchRefusal ? asProblem(error) : error;
  }
}

function asProblem({ code, message, pointer }: PatchRefusal): Problem {
  const detail = pointer === "" ? message : `${pointer}: ${message}`;
  return new Problem(code, detail, { errors: [{ pointer, keyword: "patch", message }] });
}
