// Says of one document of a file whether it is one of ours, a foreign one to leave out, or one that was meant to be ours.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { nearest } from "../../core/manifests/nearest.ts";
import { apiVersion, group, kinds } from "../../core/manifests/object.ts";

export type DocumentVerdict =
  | { readonly take: true; readonly object: JsonObject }
  | { readonly take: false; readonly problem: boolean; readonly message: string };

/** Which documents are ours to check, which are foreign, and which were meant to be ours. */
export function judgeDocument(value: Json): DocumentVerdict {
  if (!isObject(value)) return problem("A manifest is a mapping with apiVersion, kind, metadata and spec");
  const { kind } = value;
  const version = value["apiVersion"];
  if (isOwnGroup(version) || (version === "v1" && kind === "Secret")) return { take: true, object: value };
  if (kind === undefined && version === undefined) return note("Has neither apiVersion nor kind, left out");
  if (typeof kind !== "string" || typeof version !== "string") {
    return problem(`A manifest needs apiVersion and kind, such as ${apiVersion} and Project`);
  }
  return judgeForeign(version, kind);
}

function judgeForeign(version: string, kind: string): DocumentVerdict {
  const theirs = version.split("/")[0] ?? "";
  if (nearest(theirs, [group]) !== undefined) {
    return problem(`No such apiVersion ${version}, did you mean ${apiVersion}?`);
  }
  const alike = kinds.some((known) => known === kind) ? `, unlike ${apiVersion} ${kind}` : "";
  return note(`${version} ${kind} is not served here${alike}: left out`);
}

function isOwnGroup(version: Json | undefined): boolean {
  return typeof version === "string" && version.split("/")[0] === group;
}

function problem(message: string): DocumentVerdict {
  return { take: false, problem: true, message };
}

function note(message: string): DocumentVerdict {
  return { take: false, problem: false, message };
}
