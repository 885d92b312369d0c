// Splits a list into its objects, as kubectl does, and says of each object whether it is one of
// ours, a foreign one to leave out, or one that was meant to be ours.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isArray, isObject } from "../../core/json/json-value.ts";
import { apiVersion, group, isKind, kinds } from "../../core/manifests/object.ts";
import { nearest } from "../../core/nearest.ts";

export type Classification =
  | { readonly ours: true; readonly object: JsonObject }
  | { readonly ours: false; readonly problem: boolean; readonly message: string };

export interface Entry {
  readonly found: Classification;
  readonly value: Json;
  /** From the document's root. */
  readonly pointer: string;
}

/** The document itself, or what it lists: `List`, `ProjectList` and the like. */
export function entriesOf(value: Json): readonly Entry[] {
  const items = itemsOf(value);
  if (items === undefined) return [{ value, pointer: "", found: classify(value) }];
  return items.map((item, index) => ({ value: item, pointer: `/items/${index}`, found: classifyItem(item) }));
}

/** Items that say neither apiVersion nor kind have those of the list. */
function itemsOf(value: Json): readonly Json[] | undefined {
  if (!isObject(value) || !isArray(value["items"])) return undefined;
  const { kind, apiVersion: version, items } = value;
  if (typeof version !== "string" || typeof kind !== "string" || !kind.endsWith("List")) return undefined;
  const itemKind = kind.slice(0, -"List".length);
  const isTyped = (item: Json): boolean => !isObject(item) || "kind" in item || "apiVersion" in item;
  if (itemKind === "") return items;
  return items.map((item) => (isTyped(item) ? item : { apiVersion: version, kind: itemKind, ...(item as JsonObject) }));
}

function classifyItem(value: Json): Classification {
  if (isObject(value) && value["kind"] === "List") return problem("kubectl reads no list inside of a list");
  return isObject(value) && value["kind"] === undefined && value["apiVersion"] === undefined
    ? problem(needsKind)
    : classify(value);
}

const needsKind = `A manifest needs apiVersion and kind, such as ${apiVersion} and Project`;

function classify(value: Json): Classification {
  if (!isObject(value)) return problem("A manifest is a mapping with apiVersion, kind, metadata and spec");
  const { kind } = value;
  const version = value["apiVersion"];
  if (kind === undefined && version === undefined) return classifyUntyped(value);
  if (typeof version === "string" && groupOf(version) === group && kind !== "Secret")
    return { ours: true, object: value };
  if (typeof kind !== "string" || typeof version !== "string") return problem(needsKind);
  if (version === "v1" && kind === "Secret") return { ours: true, object: value };
  if (version === "v1" && kind === "List") return problem("A List has its objects in items, which is no list here");
  return classifyForeign(version, kind);
}

/** Values of a chart and files of other programs have no spec. */
function classifyUntyped({ metadata, spec }: JsonObject): Classification {
  const isManifest = isObject(metadata) && isObject(spec);
  return isManifest ? problem(needsKind) : note("Has neither apiVersion nor kind, left out");
}

function classifyForeign(version: string, kind: string): Classification {
  const theirs = groupOf(version);
  // Other systems have Projects, too, each in a group that is a domain of its own.
  if (theirs.includes(".") && !isLikeOurs(theirs)) {
    const unlike = isKind(kind) ? `, unlike ${apiVersion} ${kind}` : "";
    return note(`${version} ${kind} is not served here${unlike}: left out`);
  }
  if (kind === "Secret") return problem(`There is no ${version} Secret: write apiVersion: v1`);
  const meant = isKind(kind) ? kind : nearest(kind, kinds);
  if (meant === undefined && !isLikeOurs(theirs)) return note(`${version} ${kind} is not served here: left out`);
  const named = meant === undefined || meant === kind ? "" : ` and kind: ${meant}`;
  return problem(`There is no ${version} ${kind}: write apiVersion: ${apiVersion}${named}`);
}

/** Ours, a misspelt one, and one with our name under another domain. */
function isLikeOurs(theirs: string): boolean {
  const letters = theirs.toLowerCase().replaceAll(/[^a-z]/g, "");
  return nearest(theirs, [group]) !== undefined || letters.includes("jsonplane");
}

/** Empty for the kinds of Kubernetes' core. */
function groupOf(version: string): string {
  return version.includes("/") ? version.slice(0, version.indexOf("/")) : "";
}

function problem(message: string): Classification {
  return { ours: false, problem: true, message };
}

function note(message: string): Classification {
  return { ours: false, problem: false, message };
}
