// Reads `_metadata` of an object that was stored elsewhere. It has to be what this service could
// have written: lists find objects of a time by their ids, and owners by their names.

import { Problem } from "../../core/errors/problem.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import type { Caller } from "../authenticate/caller.ts";
import { maxUsernameBytes } from "../authenticate/external/grant.ts";
import { secondOf } from "./object-ids.ts";

export interface Metadata {
  /** Unix seconds. */
  readonly created: number;
  readonly creator: string;
  readonly creator_type: string;
}

/** Characters: a custom resource's name, or an issuer's, a slash and a username. */
export const maxCreator = { ofExternal: 63 + 1 + maxUsernameBytes, ofOthers: 253 };

/**
 * `text` is canonical JSON; members and their order are those of newObjectText. Throws Problem
 * `invalid_line`.
 */
export function requireMetadata(text: string, id: string): Metadata {
  const { created, creator, creator_type } = (parseJson(text) ?? {}) as Partial<Metadata>;
  const metadata = { created, creator, creator_type } as Metadata;
  if (JSON.stringify(metadata) !== text) {
    throw invalid("has to have `created`, `creator` and `creator_type`, in this order and nothing else");
  }
  if (!isCreator(creator, creator_type)) throw invalid("has a `creator` that no object of its `creator_type` has");
  if (created === secondOf(id)) return metadata;
  throw invalid(`has to have the second of its \`id\` as \`created\`, ${secondOf(id)}`);
}

function isCreator(creator: unknown, type: unknown): boolean {
  if (typeof creator !== "string" || creator === "" || creator.includes("\0")) return false;
  switch (type as Caller["kind"]) {
    case "anonymous":
      return creator === "anonymous";
    case "external":
      return creator.length <= maxCreator.ofExternal && /^[^/]+\/./.test(creator);
    case "user":
    case "apikey":
      return creator.length <= maxCreator.ofOthers;
    default:
      return false;
  }
}

function invalid(sentence: string): Problem {
  return new Problem("invalid_line", `\`_metadata\` ${sentence}`);
}
