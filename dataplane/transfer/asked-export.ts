// What the query of an export asks for. Refuses with `invalid_parameter`.

import { Problem } from "../../core/errors/problem.ts";
import { objectId } from "../../core/object-id.ts";
import type { ExportPlace } from "../../core/transfer/lines.ts";
import type { Owner } from "../store/ports/refs.ts";
import { type ExportPositions, parseExportPosition } from "./export-positions.ts";

export interface AskedExport {
  /** Named ones. None of both = all that may be read. */
  readonly resources: readonly string[];
  readonly rootKeys: readonly string[];
  /** Whose objects; absent = all. */
  readonly owner?: Owner;
  /** Only what has changed behind it; absent = everything. */
  readonly since?: ExportPositions;
  /** The rest of an export that broke off behind this object. */
  readonly after?: ExportPlace;
  /** Of the head of the export that broke off; only with `after`. */
  readonly position?: ExportPositions;
}

const several: ReadonlySet<string> = new Set(["_resource", "_rootKey"]);
const single: ReadonlySet<string> = new Set(["_owner", "_since", "_after", "_position"]);

export function askedExport(query: string): AskedExport {
  const parameters = new URLSearchParams(query);
  requireKnown(parameters);
  requireFitting(parameters);
  const read = <T>(name: string, parse: (text: string) => T): T | undefined => {
    const text = parameters.get(name);
    return text === null ? undefined : parse(text);
  };
  const owner = read("_owner", ownerIn);
  const since = read("_since", (text) => parseExportPosition(text, "`_since`"));
  const after = read("_after", placeIn);
  const position = read("_position", (text) => parseExportPosition(text, "`_position`"));
  return {
    resources: parameters.getAll("_resource"),
    rootKeys: parameters.getAll("_rootKey"),
    ...(owner !== undefined && { owner }),
    ...(since !== undefined && { since }),
    ...(after !== undefined && { after }),
    ...(position !== undefined && { position }),
  };
}

/** Any other parameter is refused: a typing error would export too much. */
function requireKnown(parameters: URLSearchParams): void {
  for (const name of parameters.keys()) {
    if (several.has(name)) continue;
    if (!single.has(name)) {
      throw invalid(`\`${name}\` is unknown; an export takes ${[...several, ...single].join(", ")}`);
    }
    if (parameters.getAll(name).length > 1) throw invalid(`\`${name}\` is sent twice; send it once`);
  }
}

function requireFitting(parameters: URLSearchParams): void {
  const [owner, since, after, position] = [...single].map((name) => parameters.has(name));
  if (owner && parameters.has("_rootKey")) throw invalid("`_owner` is about objects; leave `_rootKey` out");
  if (since && after) throw invalid("`_since` and `_after` can't be sent together");
  if (position && !after) throw invalid("`_position` is for `_after`; did you mean `_since`?");
}

function ownerIn(text: string): Owner {
  if (/^(?:user|apikey|external|anonymous):./.test(text)) return text;
  throw invalid("`_owner` is `<creator_type>:<creator>` of `_metadata`, such as `user:alice`");
}

const placeForm = new RegExp(`^([^/]+)/(${objectId})$`);

function placeIn(after: string): ExportPlace {
  const [, resource, id] = placeForm.exec(after) ?? [];
  if (resource === undefined || id === undefined) throw invalid("`_after` is `<resource>/<id>` of an object");
  return { resource, id };
}

export function invalid(detail: string): Problem {
  return new Problem("invalid_parameter", detail);
}
