// Turns query text into its parameters, decoded; refuses repeated ones and bad encoding with `invalid_parameter`.

import { Problem } from "../../../core/errors/problem.ts";
import { percentDecoded } from "../../../core/http/percent-decoded.ts";

export type Parameters = ReadonlyMap<string, string>;

export function queryParameters(query: string): Parameters {
  const parameters = new Map<string, string>();
  if (query === "") return parameters;
  for (const piece of query.split("&")) {
    if (piece === "") continue;
    const equals = piece.indexOf("=");
    const name = decode(equals < 0 ? piece : piece.slice(0, equals));
    // jQuery and others append `_=<time>` to get past caches.
    if (name === "_") continue;
    if (parameters.has(name)) throw new Problem("invalid_parameter", `\`${name}\` is given twice; give it once`);
    parameters.set(name, equals < 0 ? "" : decode(piece.slice(equals + 1)));
  }
  return parameters;
}

function decode(text: string): string {
  const decoded = percentDecoded(text.replaceAll("+", " "));
  if (decoded !== undefined) return decoded;
  throw new Problem("invalid_parameter", "The query is not percent-encoded UTF-8; write `%25` for a percent sign");
}

export function wholeNumber(
  parameters: Parameters,
  name: string,
  bounds: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const text = parameters.get(name);
  if (text === undefined) return bounds.fallback;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= bounds.min && value <= bounds.max) return value;
  const range = name === "_limit" ? `from ${bounds.min} to ${bounds.max}` : `of at least ${bounds.min}`;
  throw new Problem("invalid_parameter", `\`${name}\` must be a whole number ${range}`);
}
